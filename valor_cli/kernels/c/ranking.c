/* True positives of ranked detections, and counts at score thresholds. */

#include "kernel.h"

typedef struct {
    const int64_t *label, *candidate;
    const uint8_t *codes, *outside, *counted;
    int64_t *rows, *starts, *corrected, *sign;
    int64_t *counted_before, *counted_through, *corrected_before, *corrected_through;
    int64_t detections, candidates, thresholds, labels, room;
    int64_t *through; /* (candidates,): counted ones up to itself */
    int64_t hits, corrections;
} Layout;

/* One pass over the detections, for all thresholds. */
static void count_rows(Layout *layout) {
    int64_t seen = 0, label = 0, candidate = 0;
    for (int64_t row = 0; row < layout->detections; row++) {
        while (label <= layout->label[row]) layout->counted_before[label++] = seen;
        seen += layout->counted[row] != 0;
        if (candidate < layout->candidates && layout->candidate[candidate] == row)
            layout->through[candidate++] = seen;
    }
    while (label < layout->labels) layout->counted_before[label++] = seen;
}

/* What became of a candidate at a threshold. */
static void lay_out_one(Layout *layout, int64_t candidate, uint8_t code) {
    int64_t row = layout->candidate[candidate];
    bool hit = code == MATCHED, outside = layout->outside[row];
    /* A hit counts though it is outside; one that was ignored does not though it is not. */
    if (hit == outside) {
        layout->corrected[layout->corrections] = row;
        layout->sign[layout->corrections++] = hit ? 1 : -1;
    }
    if (!hit) return;
    layout->rows[layout->hits] = row;
    layout->counted_through[layout->hits] = layout->through[candidate];
    layout->corrected_through[layout->hits++] = layout->corrections;
}

static void lay_out(Layout *layout) {
    int64_t segment = 0;
    for (int64_t threshold = 0; threshold < layout->thresholds; threshold++) {
        const uint8_t *codes = layout->codes + threshold * layout->candidates;
        int64_t candidate = 0;
        for (int64_t label = 0; label < layout->labels; label++, segment++) {
            layout->starts[segment] = layout->hits;
            layout->corrected_before[segment] = layout->corrections;
            for (; candidate < layout->candidates &&
                   layout->label[layout->candidate[candidate]] == label;
                 candidate++)
                if (codes[candidate]) lay_out_one(layout, candidate, codes[candidate]);
        }
    }
    layout->starts[segment] = layout->hits;
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

/* order_hits(label, candidate, codes, outside, counted, rows, starts, corrected, sign,
   counted_before, counted_through, corrected_before, corrected_through) -> (hits, corrections):
   where true positives stand.

   label: (n,) int64, ascending. candidate: (c,) int64, ascending rows. codes: (t, c) uint8, 1 for
   matched and 2 for ignored. outside, counted: (n,) bool. All others are int64 and filled; what is
   (h,) or (k,) in `kernels.ranking.HitOrder`, which says what they are, is (room,): there is room
   for all codes that are not 0. */
FUNCTION(valor_order_hits) {
    (void)self;
    static const Wanted wanted[] = {
        {"label", INTS, false},           {"candidate", INTS, false},
        {"codes", BYTES, false},          {"outside", BYTES, false},
        {"counted", BYTES, false},        {"rows", INTS, true},
        {"starts", INTS, true},           {"corrected", INTS, true},
        {"sign", INTS, true},             {"counted_before", INTS, true},
        {"counted_through", INTS, true},  {"corrected_before", INTS, true},
        {"corrected_through", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 13)) return NULL;
    Layout layout = {
        .label = columns.views[0].buf,
        .candidate = columns.views[1].buf,
        .codes = columns.views[2].buf,
        .outside = columns.views[3].buf,
        .counted = columns.views[4].buf,
        .rows = columns.views[5].buf,
        .starts = columns.views[6].buf,
        .corrected = columns.views[7].buf,
        .sign = columns.views[8].buf,
        .counted_before = columns.views[9].buf,
        .counted_through = columns.views[10].buf,
        .corrected_before = columns.views[11].buf,
        .corrected_through = columns.views[12].buf,
        .detections = items(&columns, 0),
        .candidates = items(&columns, 1),
        .labels = items(&columns, 9),
        .room = items(&columns, 5),
    };
    int64_t segments = items(&columns, 11);
    layout.thresholds = layout.labels ? segments / layout.labels : 0;
    PyObject *done = NULL;
    layout.through = malloc(((size_t)layout.candidates + 1) * sizeof(int64_t));
    bool sound = segments == layout.thresholds * layout.labels &&
                 items(&columns, 6) == segments + 1 &&
                 items(&columns, 2) == layout.thresholds * layout.candidates &&
                 items(&columns, 3) == layout.detections && items(&columns, 4) == layout.detections;
    for (int at = 7; at < 13; at++)
        sound = sound && (at == 9 || at == 11 || items(&columns, at) == layout.room);
    if (!layout.through) {
        PyErr_NoMemory();
    } else {
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
