/* True positives of ranked detections, and counts at score thresholds. */

#include "kernel.h"

typedef struct {
    const int64_t *label, *candidate;
    const uint8_t *codes, *outside, *counted, *kept; /* kept: NULL for all */
    int64_t *rows, *segment, *counted_span, *corrected, *sign, *corrected_span;
    int64_t detections, candidates, thresholds, labels, room;
    int64_t *before, *through; /* (candidates,): counted ones before its label, and up to itself */
    int64_t hits, corrections;
} Layout;

/* One pass over the detections, for all thresholds. */
static void count_rows(Layout *layout) {
    int64_t seen = 0, before = 0, row = 0;
    for (int64_t i = 0; i < layout->candidates; i++) {
        for (; row <= layout->candidate[i]; row++) {
            if (row == 0 || layout->label[row] != layout->label[row - 1]) before = seen;
            seen += layout->counted[row] != 0;
        }
        layout->before[i] = before;
        layout->through[i] = seen;
    }
}

static void lay_out(Layout *layout) {
    int64_t hits = 0, corrections = 0, corrections_before = 0, label = -1;
    for (int64_t threshold = 0; threshold < layout->thresholds; threshold++) {
        const uint8_t *codes = layout->codes + threshold * layout->candidates;
        corrections_before = corrections;
        label = -1;
        for (int64_t i = 0; i < layout->candidates; i++) {
            int64_t row = layout->candidate[i];
            if (layout->label[row] != label) {
                label = layout->label[row];
                corrections_before = corrections;
            }
            if (!codes[i] || (layout->kept && !layout->kept[row])) continue;
            bool hit = codes[i] == MATCHED, outside = layout->outside[row];
            /* A hit counts though it is outside; one that was ignored does not though it is not. */
            if (hit == outside) {
                layout->corrected[corrections] = row;
                layout->sign[corrections++] = hit ? 1 : -1;
            }
            if (!hit) continue;
            layout->rows[hits] = row;
            layout->segment[hits] = threshold * layout->labels + label;
            layout->counted_span[hits] = layout->before[i];
            layout->counted_span[layout->room + hits] = layout->through[i];
            layout->corrected_span[hits] = corrections_before;
            layout->corrected_span[layout->room + hits] = corrections;
            hits++;
        }
    }
    layout->hits = hits;
    layout->corrections = corrections;
}

/* Whether every number stays inside its column, and candidates and labels ascend. */
static bool is_sound(const Layout *layout) {
    for (int64_t row = 0; row < layout->detections; row++)
        if (layout->label[row] < 0 || layout->label[row] >= layout->labels ||
            (row && layout->label[row] < layout->label[row - 1]))
            return false;
    for (int64_t i = 0; i < layout->candidates; i++)
        if (layout->candidate[i] < 0 || layout->candidate[i] >= layout->detections ||
            (i && layout->candidate[i] <= layout->candidate[i - 1]))
            return false;
    int64_t codes = 0;
    for (int64_t i = 0; i < layout->thresholds * layout->candidates; i++)
        codes += layout->codes[i] != 0;
    return codes <= layout->room;
}

/* order_hits(label, candidate, codes, outside, counted, kept, rows, segment, counted_span, corrected,
   sign, corrected_span, labels) -> (hits, corrections): where true positives stand.

   label: (n,) int64, ascending. candidate: (c,) int64, ascending rows. codes: (t, c) uint8, 1 for
   matched and 2 for ignored. outside, counted: (n,) bool. kept: (n,) bool, or (0,) for all. rows,
   segment, corrected, sign: (room,) int64, filled. counted_span, corrected_span: (2, room) int64,
   filled. There is room for all codes that are not 0. `kernels.ranking.HitOrder` says what they are. */
FUNCTION(valor_order_hits) {
    (void)self;
    static const Wanted wanted[] = {
        {"label", INTS, false},       {"candidate", INTS, false},    {"codes", BYTES, false},
        {"outside", BYTES, false},    {"counted", BYTES, false},     {"kept", BYTES, false},
        {"rows", INTS, true},         {"segment", INTS, true},       {"counted_span", INTS, true},
        {"corrected", INTS, true},    {"sign", INTS, true},          {"corrected_span", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 12)) return NULL;
    Layout layout = {
        .label = columns.views[0].buf,
        .candidate = columns.views[1].buf,
        .codes = columns.views[2].buf,
        .outside = columns.views[3].buf,
        .counted = columns.views[4].buf,
        .kept = items(&columns, 5) ? columns.views[5].buf : NULL,
        .rows = columns.views[6].buf,
        .segment = columns.views[7].buf,
        .counted_span = columns.views[8].buf,
        .corrected = columns.views[9].buf,
        .sign = columns.views[10].buf,
        .corrected_span = columns.views[11].buf,
        .detections = items(&columns, 0),
        .candidates = items(&columns, 1),
        .labels = given > 12 ? PyLong_AsLongLong(args[12]) : -1,
        .room = items(&columns, 6),
    };
    layout.thresholds = layout.candidates ? items(&columns, 2) / layout.candidates : 0;
    PyObject *done = NULL;
    size_t room = (size_t)layout.candidates + 1;
    layout.before = malloc(room * sizeof(int64_t));
    layout.through = malloc(room * sizeof(int64_t));
    bool sound = items(&columns, 2) == layout.thresholds * layout.candidates &&
                 items(&columns, 3) == layout.detections && items(&columns, 4) == layout.detections &&
                 (!layout.kept || items(&columns, 5) == layout.detections);
    for (int at = 7; at < 12; at++)
        sound = sound && items(&columns, at) == layout.room * (at == 8 || at == 11 ? 2 : 1);
    if (!layout.before || !layout.through) {
        PyErr_NoMemory();
    } else if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS;
        sound = sound && is_sound(&layout);
        if (sound) {
            count_rows(&layout);
            lay_out(&layout);
        }
        Py_END_ALLOW_THREADS;
        done = sound ? Py_BuildValue("(LL)", (long long)layout.hits, (long long)layout.corrections)
                     : refused("columns of other lengths, or numbers that lead outside them");
    }
    free(layout.before);
    free(layout.through);
    close_columns(&columns);
    return done;
}

/* reaching(values, group, levels, counts): how many values of each group are at least each level.

   values: (n,) float64. group: (n,) int64, from 0. levels: (k,) float64, ascending. counts: (k,
   groups) int64, zeros, filled. */
FUNCTION(valor_reaching) {
    (void)self;
    static const Wanted wanted[] = {{"values", FLOATS, false},
                                    {"group", INTS, false},
                                    {"levels", FLOATS, false},
                                    {"counts", INTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    const double *values = columns.views[0].buf, *levels = columns.views[2].buf;
    const int64_t *group = columns.views[1].buf;
    int64_t *counts = columns.views[3].buf;
    int64_t n = items(&columns, 0), k = items(&columns, 2), groups = k ? items(&columns, 3) / k : 0;
    bool sound = items(&columns, 1) == n && items(&columns, 3) == k * groups;
    Py_BEGIN_ALLOW_THREADS;
    for (int64_t i = 0; sound && k && i < n; i++) {
        if (group[i] < 0 || group[i] >= groups) {
            sound = false;
            break;
        }
        /* The highest level that is reached; those below are added up at the end. */
        int64_t low = 0, high = k;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (values[i] >= levels[middle])
                low = middle + 1;
            else
                high = middle;
        }
        if (low) counts[(low - 1) * groups + group[i]]++;
    }
    for (int64_t level = k - 2; sound && level >= 0; level--)
        for (int64_t at = 0; at < groups; at++)
            counts[level * groups + at] += counts[(level + 1) * groups + at];
    Py_END_ALLOW_THREADS;
    close_columns(&columns);
    if (!sound) return refused("groups outside their range, or columns of other lengths");
    return Py_NewRef(Py_None);
}
