/* Interpolated precision at given recalls, as pycocotools' COCOeval.accumulate has it. */

#include <math.h>

#include "kernel.h"

typedef struct {
    const int64_t *starts, *copies, *seen, *truths; /* copies: NULL for one each */
    const double *recalls;
    double *best;
    int64_t *at;
    int64_t hits, segments, levels;
} Curves;

int64_t needed_hits(double recall, int64_t truths) {
    double positives = truths > 1 ? (double)truths : 1;
    double k = ceil(recall * positives);
    /* The product may round either way; the comparison that decides is on the quotient. */
    if ((k - 1) / positives >= recall) k -= 1;
    if (k / positives < recall) k += 1;
    return k > 1 ? (int64_t)k : 1;
}

/* The curve of one segment. `precision` is memory for the highest precision from each hit on. */
static void one_curve(const Curves *curves, int64_t segment, double *precision) {
    int64_t begin = curves->starts[segment], end = curves->starts[segment + 1];
    int64_t *at = curves->at + segment * curves->levels;
    int64_t truths = curves->truths[segment], tp = 0, level = 0;
    for (int64_t hit = begin; hit < end; hit++) {
        tp += curves->copies ? curves->copies[hit] : 1;
        /* The distance from 1 to the next double keeps 0/0 away in the reference, and stays in the
           last bit of the quotient. */
        precision[hit - begin] = (double)tp / ((double)curves->seen[hit] + DBL_EPSILON);
        for (; level < curves->levels && needed_hits(curves->recalls[level], truths) <= tp; level++)
            at[level] = hit;
    }
    for (int64_t hit = end - 2; hit >= begin; hit--)
        if (precision[hit + 1 - begin] > precision[hit - begin])
            precision[hit - begin] = precision[hit + 1 - begin];
    for (int64_t missed = level; missed < curves->levels; missed++) at[missed] = -1;
    for (int64_t one = 0; one < curves->levels; one++) {
        double *best = &curves->best[one * curves->segments + segment];
        *best = truths == 0 ? NAN : at[one] < 0 ? 0.0 : precision[at[one] - begin];
    }
}

/* interpolate(starts, copies, seen, ground_truths, recalls, best, at): curves of precision.

   starts: (segments + 1,) int64, copies, seen: (h,) int64, `kernels.precision_recall.Hits`; copies
   may be (0,) for one each. ground_truths: (segments,) int64. recalls: (r,) float64, ascending. best: (r, segments) float64, filled. at: (segments, r) int64,
   filled. */
FUNCTION(valor_interpolate) {
    (void)self;
    static const Wanted wanted[] = {
        {"starts", INTS, false},        {"copies", INTS, false},   {"seen", INTS, false},
        {"ground_truths", INTS, false}, {"recalls", FLOATS, false}, {"best", FLOATS, true},
        {"at", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 7)) return NULL;
    Curves curves = {
        .starts = columns.views[0].buf,
        .copies = items(&columns, 1) ? columns.views[1].buf : NULL,
        .seen = columns.views[2].buf,
        .truths = columns.views[3].buf,
        .recalls = columns.views[4].buf,
        .best = columns.views[5].buf,
        .at = columns.views[6].buf,
        .hits = items(&columns, 2),
        .segments = items(&columns, 3),
        .levels = items(&columns, 4),
    };
    int64_t cells = curves.segments * curves.levels;
    bool sound = items(&columns, 0) == curves.segments + 1 &&
                 (!curves.copies || items(&columns, 1) == curves.hits) &&
                 items(&columns, 5) == cells && items(&columns, 6) == cells &&
                 are_starts(curves.starts, curves.segments, curves.hits);
    PyObject *done = NULL;
    double *precision = NULL;
    if (!sound) {
        refused("segments in another order, or columns of other lengths");
        goto end;
    }
    precision = malloc(((size_t)curves.hits + 1) * sizeof(double));
    if (!precision) {
        PyErr_NoMemory();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS;
    for (int64_t segment = 0; segment < curves.segments; segment++)
        one_curve(&curves, segment, precision);
    Py_END_ALLOW_THREADS;
    done = Py_NewRef(Py_None);
end:
    free(precision);
    close_columns(&columns);
    return done;
}
