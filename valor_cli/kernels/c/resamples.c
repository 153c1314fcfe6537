/* Sums and average precision of resamples. Weights of LANES resamples stand side by side, and are
   added together. */

#include <math.h>

#include "kernel.h"

enum { LANES = 8 };

/* All lanes in one step of the processor; without the pragma GCC writes them out one by one. */
#define EACH_LANE _Pragma("omp simd") for (int lane = 0; lane < LANES; lane++)

/* The weights of some resamples by image; 0 where there are fewer than LANES. */
static void stand_side_by_side(const int64_t *weights, int64_t images, int64_t first,
                               int64_t width, int32_t (*found)[LANES]) {
    memset(found, 0, (size_t)images * sizeof *found);
    for (int64_t lane = 0; lane < width; lane++)
        for (int64_t image = 0; image < images; image++)
            found[image][lane] = (int32_t)weights[(first + lane) * images + image];
}

static int64_t width_from(int64_t first, int64_t resamples) {
    return resamples - first < LANES ? resamples - first : LANES;
}

/* tally_resamples(group, unit, weight, found): summed weights of each group in LANES resamples.

   group, unit: (n,) counts. weight: (units, LANES) int32. found: (groups, LANES) int64, added to. */
FUNCTION(valor_tally_resamples) {
    (void)self;
    static const Wanted wanted[] = {
        {"group", COUNTS, false}, {"unit", COUNTS, false}, {"weight", COUNTS, false},
        {"found", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    const void *group = columns.views[0].buf, *unit = columns.views[1].buf;
    const int32_t(*weight)[LANES] = columns.views[2].buf;
    int64_t(*found)[LANES] = columns.views[3].buf;
    bool narrow_group = is_narrow(&columns, 0), narrow_unit = is_narrow(&columns, 1);
    int64_t count = items(&columns, 0);
    uint64_t units = (uint64_t)items(&columns, 2) / LANES;
    uint64_t groups = (uint64_t)items(&columns, 3) / LANES;
    bool sound = items(&columns, 1) == count && is_narrow(&columns, 2) &&
                 items(&columns, 2) % LANES == 0 && items(&columns, 3) % LANES == 0;
    for (int64_t i = 0; sound && i < count; i++)
        sound = (uint64_t)count_at(group, narrow_group, i) < groups &&
                (uint64_t)count_at(unit, narrow_unit, i) < units;
    if (!sound) {
        close_columns(&columns);
        return refused("groups or units outside of their columns, or columns of other lengths");
    }
    Py_BEGIN_ALLOW_THREADS;
    for (int64_t i = 0; i < count; i++) {
        int64_t *sum = found[count_at(group, narrow_group, i)];
        const int32_t *own = weight[count_at(unit, narrow_unit, i)];
        EACH_LANE sum[lane] += own[lane];
    }
    Py_END_ALLOW_THREADS;
    close_columns(&columns);
    return Py_NewRef(Py_None);
}

static inline double higher(double one, double other) { return one > other ? one : other; }

typedef struct {
    const int64_t *starts;
    const int64_t *counted_before, *counted_through, *corrected_before, *corrected_through;
    const int64_t *hit_image, *counted_image, *corrected_image, *sign, *weights, *truths;
    const double *recalls;
    double *average;
    int64_t hits, counted, corrections, images, resamples, labels, thresholds, levels;
} Resamples;

/* What is computed in, for LANES resamples from `first` on; a row is that of one image, counted
   detection, recall level or number of true positives. */
typedef struct {
    int32_t (*weight)[LANES], (*seen)[LANES], (*need)[LANES];
    double (*precision)[LANES]; /* zeros between segments */
    int64_t first, width;
} Work;

/* The precision at each hit of a segment, kept by its true positives: the highest of as many.

   More of them than the last level needs count as so many. Returns the most there are.

   Hits without another detection between them, or a correction, are a block: each raises precision
   or leaves it, whatever it weighs, so that only the last one's is looked at. */
static int64_t at_hits(const Resamples *all, Work *work, int64_t segment) {
    int64_t begin = all->starts[segment], end = all->starts[segment + 1];
    int64_t counted_before = all->counted_before[segment % all->labels];
    int32_t tp[LANES] = {0}, corrected[LANES] = {0}, at[LANES];
    const int32_t *last = work->need[all->levels - 1];
    int64_t correction = all->corrected_before[segment], most = 0;
    for (int64_t hit = begin; hit < end; hit++) {
        for (; correction < all->corrected_through[hit]; correction++) {
            const int32_t *weight = work->weight[all->corrected_image[correction]];
            int32_t sign = (int32_t)all->sign[correction];
            EACH_LANE corrected[lane] += sign * weight[lane];
        }
        const int32_t *weight = work->weight[all->hit_image[hit]];
        EACH_LANE tp[lane] += weight[lane];
        if (hit + 1 < end && all->counted_through[hit + 1] - all->counted_through[hit] == 1 &&
            all->corrected_through[hit + 1] == all->corrected_through[hit])
            continue;
        const int32_t *seen = work->seen[all->counted_through[hit] - counted_before];
        double precision[LANES];
        EACH_LANE {
            double counted = (double)(seen[lane] + corrected[lane]);
            precision[lane] = (double)tp[lane] / (counted + DBL_EPSILON);
        }
        EACH_LANE at[lane] = (uint32_t)tp[lane] < (uint32_t)last[lane] ? tp[lane] : last[lane];
        EACH_LANE {
            double *highest = &work->precision[at[lane]][lane];
            *highest = higher(precision[lane], *highest);
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        if (at[lane] > most) most = at[lane];
    return most;
}

/* The mean over the recall levels of the highest precision there or further on. */
static void average(const Resamples *all, const Work *work, int64_t most, double *found) {
    for (int64_t tp = most - 1; tp > 0; tp--) {
        double *own = work->precision[tp], *next = work->precision[tp + 1];
        EACH_LANE own[lane] = higher(next[lane], own[lane]);
    }
    EACH_LANE found[lane] = 0;
    for (int64_t level = 0; level < all->levels; level++)
        EACH_LANE found[lane] += work->precision[work->need[level][lane]][lane];
    EACH_LANE found[lane] /= (double)all->levels;
}

/* Add up the weights of a label's counted detections, up to each. */
static void add_up(const Resamples *all, Work *work, int64_t label) {
    int64_t from = all->counted_before[label];
    int64_t to = label + 1 < all->labels ? all->counted_before[label + 1] : all->counted;
    memset(work->seen[0], 0, sizeof work->seen[0]);
    for (int64_t at = from; at < to; at++) {
        const int32_t *weight = work->weight[all->counted_image[at]];
        const int32_t *before = work->seen[at - from];
        int32_t *sum = work->seen[at - from + 1];
        EACH_LANE sum[lane] = before[lane] + weight[lane];
    }
}

/* The true positives of a label that each level needs. */
static void find_needed(const Resamples *all, Work *work, int64_t label) {
    for (int64_t lane = 0; lane < work->width; lane++) {
        int64_t truths = all->truths[(work->first + lane) * all->labels + label];
        for (int64_t level = 0; level < all->levels; level++) {
            int64_t needed = needed_hits(all->recalls[level], truths);
            work->need[level][lane] = (int32_t)(needed <= truths ? needed : truths + 1);
        }
    }
}

/* All averages of LANES resamples. */
static void averages_of(const Resamples *all, Work *work) {
    stand_side_by_side(all->weights, all->images, work->first, work->width, work->weight);
    for (int64_t label = 0; label < all->labels; label++) {
        add_up(all, work, label);
        find_needed(all, work, label);
        for (int64_t threshold = 0; threshold < all->thresholds; threshold++) {
            int64_t segment = threshold * all->labels + label;
            double found[LANES] = {0};
            if (all->starts[segment] < all->starts[segment + 1]) {
                int64_t most = at_hits(all, work, segment);
                average(all, work, most, found);
                memset(work->precision, 0, ((size_t)most + 1) * sizeof *work->precision);
            }
            for (int64_t lane = 0; lane < work->width; lane++) {
                int64_t row = work->first + lane;
                all->average[(row * all->thresholds + threshold) * all->labels + label] =
                    all->truths[row * all->labels + label] ? found[lane] : NAN;
            }
        }
    }
}

/* Whether images are inside of their column. */
static bool are_images(const Resamples *all, const int64_t *image, int64_t count) {
    for (int64_t at = 0; at < count; at++)
        if ((uint64_t)image[at] >= (uint64_t)all->images) return false;
    return true;
}

/* Whether the hits of a segment come in one order, among the detections and corrections of it. */
static bool is_in_order(const Resamples *all, int64_t segment) {
    int64_t label = segment % all->labels;
    int64_t counted = all->counted_before[label], corrected = all->corrected_before[segment];
    int64_t end = label + 1 < all->labels ? all->counted_before[label + 1] : all->counted;
    for (int64_t hit = all->starts[segment]; hit < all->starts[segment + 1]; hit++) {
        if (all->counted_through[hit] < counted || all->corrected_through[hit] < corrected)
            return false;
        counted = all->counted_through[hit];
        corrected = all->corrected_through[hit];
    }
    return counted <= end && corrected <= all->corrections;
}

static bool is_sound(const Resamples *all) {
    bool sound = are_images(all, all->hit_image, all->hits) &&
                 are_images(all, all->counted_image, all->counted) &&
                 are_images(all, all->corrected_image, all->corrections) &&
                 are_starts(all->starts, all->labels * all->thresholds, all->hits) &&
                 (!all->labels || are_starts(all->counted_before, all->labels - 1, all->counted));
    for (int64_t at = 0; sound && at < all->resamples * all->labels; at++)
        sound = all->truths[at] >= 0 && all->truths[at] < INT32_MAX;
    for (int64_t segment = 0; sound && segment < all->labels * all->thresholds; segment++)
        sound = all->corrected_before[segment] >= 0 && is_in_order(all, segment);
    return sound;
}

/* Run all resamples, LANES at a time; false without memory. */
static bool run_resamples(const Resamples *all) {
    int64_t most = 0;
    for (int64_t at = 0; at < all->resamples * all->labels; at++)
        if (all->truths[at] > most) most = all->truths[at];
    size_t row = sizeof(int32_t[LANES]);
    Work work = {
        .weight = malloc(((size_t)all->images + 1) * row),
        .seen = malloc(((size_t)all->counted + 1) * row),
        .need = calloc((size_t)all->levels, row),
        /* One more than there are is what no level reaches. */
        .precision = calloc((size_t)most + 2, sizeof(double[LANES])),
    };
    bool room = work.weight && work.seen && work.need && work.precision;
    for (int64_t first = 0; room && first < all->resamples; first += LANES) {
        work.first = first;
        work.width = width_from(first, all->resamples);
        averages_of(all, &work);
    }
    free(work.weight);
    free(work.seen);
    free(work.need);
    free(work.precision);
    return room;
}

/* average_precisions(starts, counted_before, counted_through, corrected_before, corrected_through,
   hit_image, counted_image, corrected_image, sign, weights, ground_truths, recalls, average):
   average precision of resamples.

   starts, …, corrected_through, sign: int64, `kernels.ranking.HitOrder`. hit_image (h,),
   counted_image (c,), corrected_image (k,) int64: images of the hits, of what is counted, of the
   corrections. weights: (resamples, images) int64. ground_truths: (resamples, labels) int64.
   recalls: (r,) float64, ascending. average: (resamples, thresholds, labels) float64, filled; NaN
   without ground truth. All sums of weights fit 32 bits. */
FUNCTION(valor_average_precisions) {
    (void)self;
    static const Wanted wanted[] = {
        {"starts", INTS, false},           {"counted_before", INTS, false},
        {"counted_through", INTS, false},  {"corrected_before", INTS, false},
        {"corrected_through", INTS, false}, {"hit_image", INTS, false},
        {"counted_image", INTS, false},    {"corrected_image", INTS, false},
        {"sign", INTS, false},             {"weights", INTS, false},
        {"ground_truths", INTS, false},    {"recalls", FLOATS, false},
        {"average", FLOATS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 13)) return NULL;
    Resamples all = {
        .starts = columns.views[0].buf,
        .counted_before = columns.views[1].buf,
        .counted_through = columns.views[2].buf,
        .corrected_before = columns.views[3].buf,
        .corrected_through = columns.views[4].buf,
        .hit_image = columns.views[5].buf,
        .counted_image = columns.views[6].buf,
        .corrected_image = columns.views[7].buf,
        .sign = columns.views[8].buf,
        .weights = columns.views[9].buf,
        .truths = columns.views[10].buf,
        .recalls = columns.views[11].buf,
        .average = columns.views[12].buf,
        .hits = items(&columns, 5),
        .counted = items(&columns, 6),
        .corrections = items(&columns, 7),
        .labels = items(&columns, 1),
        .levels = items(&columns, 11),
    };
    int64_t segments = items(&columns, 3);
    bool room = true, sound = segments && all.labels && all.levels;
    if (sound) {
        all.resamples = items(&columns, 12) / segments;
        all.images = all.resamples ? items(&columns, 9) / all.resamples : 0;
        all.thresholds = segments / all.labels;
        sound = items(&columns, 0) == segments + 1 && items(&columns, 2) == all.hits &&
                segments == all.thresholds * all.labels && items(&columns, 4) == all.hits &&
                items(&columns, 8) == all.corrections &&
                items(&columns, 9) == all.resamples * all.images &&
                items(&columns, 10) == all.resamples * all.labels &&
                items(&columns, 12) == all.resamples * segments;
    }
    Py_BEGIN_ALLOW_THREADS;
    sound = sound && is_sound(&all);
    if (sound) room = run_resamples(&all);
    Py_END_ALLOW_THREADS;
    close_columns(&columns);
    if (!sound) return refused("places outside of their columns, or in another order");
    return room ? Py_NewRef(Py_None) : PyErr_NoMemory();
}
