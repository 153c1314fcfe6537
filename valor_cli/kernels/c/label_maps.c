/* Pixels of two label maps, and how often each value met each other. */

#include "kernel.h"

#define VALUES 256

/* Tables that are filled in turns: adding to a number that was only just written would wait for it. */
#define TABLES 4

/* Pixels that are looked at together. */
#define TOGETHER 8

/* How often a value of one side met each of the other, in several tables. */
typedef uint32_t Row[TABLES][VALUES];

/* By value of the ground truth, where it occurs: of some twenty, as labels are, the memory is small. */
typedef struct {
    Row *rows[VALUES];
    bool failed;
} Counts;

static inline void add(Counts *counts, uint8_t truth, uint8_t prediction, int table, uint32_t pixels) {
    if (!counts->rows[truth] && !(counts->rows[truth] = calloc(1, sizeof(Row)))) {
        counts->failed = true;
        return;
    }
    (*counts->rows[truth])[table][prediction] += pixels;
}

static inline uint64_t word(const uint8_t *bytes) {
    uint64_t found;
    memcpy(&found, bytes, sizeof found);
    return found;
}

static inline uint64_t repeated(uint8_t value) { return value * (UINT64_MAX / 255); }

/* Count n pixels; where neighbours are all alike, as they mostly are, eight in one step. */
static void count_meetings(const uint8_t *truth, const uint8_t *prediction, int64_t n, Counts *counts) {
    int64_t at = 0;
    while (at < n) {
        int64_t begin = at;
        uint64_t true_word = repeated(truth[at]), found_word = repeated(prediction[at]);
        while (at + TOGETHER <= n && word(truth + at) == true_word &&
               word(prediction + at) == found_word) {
            at += TOGETHER;
        }
        if (at > begin) add(counts, truth[begin], prediction[begin], 0, (uint32_t)(at - begin));
        /* Up to where they may be alike again. */
        int64_t end = at + TOGETHER <= n ? at + TOGETHER : n;
        for (; at < end; at++) add(counts, truth[at], prediction[at], at % TABLES, 1);
    }
}

/* What pixels are, what they are taken for, and how many. */
typedef struct {
    int32_t truth, prediction;
    int64_t pixels;
} Meeting;

/* The pairs of values that occur, ascending, as codes if there are any; into `meetings`, if it is
   not NULL. Returns how many. */
static int64_t listed(const Counts *counts, const int32_t *true_codes, const int32_t *found_codes,
                      Meeting *meetings) {
    int64_t found = 0;
    for (int truth = 0; truth < VALUES; truth++) {
        for (int value = 0; counts->rows[truth] && value < VALUES; value++) {
            int64_t total = 0;
            for (int table = 0; table < TABLES; table++) total += (*counts->rows[truth])[table][value];
            if (!total) continue;
            if (meetings) {
                meetings[found].truth = true_codes ? true_codes[truth] : truth;
                meetings[found].prediction = found_codes ? found_codes[value] : value;
                meetings[found].pixels = total;
            }
            found++;
        }
    }
    return found;
}

static int by_codes(const void *one, const void *other) {
    const Meeting *a = one, *b = other;
    if (a->truth != b->truth) return a->truth < b->truth ? -1 : 1;
    return (a->prediction > b->prediction) - (a->prediction < b->prediction);
}

/* Add up those of the same codes. Returns how many there are then, ascending. */
static int64_t merged(Meeting *meetings, int64_t count) {
    int64_t kept = 0;
    qsort(meetings, (size_t)count, sizeof *meetings, by_codes);
    for (int64_t at = 0; at < count; at++) {
        if (kept && !by_codes(&meetings[kept - 1], &meetings[at])) {
            meetings[kept - 1].pixels += meetings[at].pixels;
        } else {
            meetings[kept++] = meetings[at];
        }
    }
    return kept;
}

/* All meetings of two maps; NULL where memory is short. */
static Meeting *met(const Columns *columns, int64_t *count) {
    const uint8_t *truth = columns->views[0].buf, *prediction = columns->views[1].buf;
    bool coded = items(columns, 2) > 0;
    Counts counts = {{NULL}, false};
    count_meetings(truth, prediction, items(columns, 0), &counts);
    *count = listed(&counts, NULL, NULL, NULL);
    Meeting *meetings = counts.failed ? NULL : malloc((size_t)(*count + 1) * sizeof *meetings);
    if (meetings && coded) {
        listed(&counts, columns->views[2].buf, columns->views[3].buf, meetings);
        *count = merged(meetings, *count);
    } else if (meetings) {
        listed(&counts, NULL, NULL, meetings);
    }
    for (int value = 0; value < VALUES; value++) free(counts.rows[value]);
    return meetings;
}

/* Bytes of three columns of int64. */
static PyObject *as_columns(const Meeting *meetings, int64_t count) {
    PyObject *answer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * 3 * (Py_ssize_t)sizeof(int64_t));
    char *bytes = answer ? PyBytes_AsString(answer) : NULL;
    for (int64_t at = 0; bytes && at < count; at++) {
        int64_t row[3] = {meetings[at].truth, meetings[at].prediction, meetings[at].pixels};
        for (int part = 0; part < 3; part++) {
            memcpy(bytes + (part * count + at) * (int64_t)sizeof *row, &row[part], sizeof *row);
        }
    }
    return answer;
}

/* meetings(truth, prediction, truth_codes, prediction_codes): bytes of (3, m) int64, codes of the two
   sides and how many pixels have both; distinct and ascending.

   truth, prediction: (n,) uint8, fewer than 2 ** 32. truth_codes, prediction_codes: int32, the code
   of each of 256 values, or none of both for the values themselves. */
FUNCTION(valor_meetings) {
    (void)self;
    static const Wanted wanted[] = {{"truth", BYTES, false},
                                    {"prediction", BYTES, false},
                                    {"truth_codes", COUNTS, false},
                                    {"prediction_codes", COUNTS, false}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    int64_t n = items(&columns, 0), codes = items(&columns, 2), count = 0;
    bool sound = items(&columns, 1) == n && n <= UINT32_MAX && items(&columns, 3) == codes &&
                 (codes == VALUES || codes == 0) && is_narrow(&columns, 2) && is_narrow(&columns, 3);
    PyObject *answer = NULL;
    if (!sound) {
        refused("two label maps of one size, and 256 codes of both or of none");
    } else {
        Meeting *meetings;
        Py_BEGIN_ALLOW_THREADS;
        meetings = met(&columns, &count);
        Py_END_ALLOW_THREADS;
        answer = meetings ? as_columns(meetings, count) : PyErr_NoMemory();
        free(meetings);
    }
    close_columns(&columns);
    return answer;
}
