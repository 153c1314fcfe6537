/* Orders of rows: stable, by counting digits from the lowest (radix sort). */

#include "kernel.h"

#define WIDEST 11
#define SHORT 1024

typedef struct {
    uint64_t key;
    int64_t row;
} Entry;

/* Sort n > 0 entries by the lowest `bits` of their keys, equal ones in the order they have. Returns
   where they are then: in `entries` or in `spare`, which has room for as many. */
static Entry *sort_entries(Entry *entries, Entry *spare, int64_t n, int bits) {
    /* Of few entries, more passes cost less than many counters. */
    int width = n < SHORT ? 8 : WIDEST;
    uint64_t most = ((uint64_t)1 << width) - 1;
    int64_t places[1 << WIDEST];
    for (int shift = 0; shift < bits; shift += width) {
        memset(places, 0, sizeof *places << width);
        for (int64_t i = 0; i < n; i++) places[entries[i].key >> shift & most]++;
        /* A digit that all share, as the last ones of scores that were float32, orders nothing. */
        if (places[entries[0].key >> shift & most] == n) continue;
        int64_t place = 0;
        for (uint64_t value = 0; value <= most; value++) {
            int64_t count = places[value];
            places[value] = place;
            place += count;
        }
        for (int64_t i = 0; i < n; i++) spare[places[entries[i].key >> shift & most]++] = entries[i];
        Entry *sorted = spare;
        spare = entries;
        entries = sorted;
    }
    return entries;
}

/* How many bits the largest number has; 64 if one is negative. */
static int bits_of(const int64_t *values, int64_t n) {
    uint64_t all = 0;
    for (int64_t i = 0; i < n; i++) all |= (uint64_t)values[i];
    int bits = 0;
    while (bits < 64 && all >> bits) bits++;
    return bits;
}

/* A whole number that is the larger, the smaller the score is; the same for 0.0 and -0.0. */
static uint64_t descending(double score) {
    double plain = score + 0.0;
    uint64_t bits;
    memcpy(&bits, &plain, sizeof bits);
    return bits >> 63 ? bits : ~(bits | (uint64_t)1 << 63);
}

/* Fill in rows by their group, below `groups`, those of a group in the order they have; `places` has
   room for a number for each group, all 0. */
static void count_out(const int64_t *group, int64_t n, int64_t *places, int64_t groups,
                      int64_t *order) {
    for (int64_t i = 0; i < n; i++) places[group[i]]++;
    int64_t place = 0;
    for (int64_t at = 0; at < groups; at++) {
        int64_t count = places[at];
        places[at] = place;
        place += count;
    }
    for (int64_t i = 0; i < n; i++) order[places[group[i]]++] = i;
}

/* order_by_group(group, order): rows by their group, those of a group in the order they have.

   group: (n,) int64 from 0. order: (n,) int64, filled. */
FUNCTION(valor_order_by_group) {
    (void)self;
    static const Wanted wanted[] = {{"group", INTS, false}, {"order", INTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 2)) return NULL;
    const int64_t *group = columns.views[0].buf;
    int64_t *order = columns.views[1].buf;
    int64_t n = items(&columns, 0);
    int bits = bits_of(group, n);
    PyObject *done = NULL;
    /* Of few groups, a counter for each is less memory than the rows. */
    bool few = bits < 64 && ((int64_t)1 << bits) <= n;
    Entry *entries = few ? NULL : malloc(((size_t)n * 2 + 1) * sizeof(Entry));
    int64_t *places = few ? calloc((size_t)1 << bits, sizeof(int64_t)) : NULL;
    if (!entries && !places) {
        PyErr_NoMemory();
    } else if (items(&columns, 1) != n || bits == 64) {
        refused("groups from 0, and an order of as many rows");
    } else {
        Py_BEGIN_ALLOW_THREADS;
        if (few) {
            count_out(group, n, places, (int64_t)1 << bits, order);
        } else if (n) {
            for (int64_t i = 0; i < n; i++) entries[i] = (Entry){(uint64_t)group[i], i};
            const Entry *sorted = sort_entries(entries, entries + n, n, bits);
            for (int64_t i = 0; i < n; i++) order[i] = sorted[i].row;
        }
        Py_END_ALLOW_THREADS;
        done = Py_NewRef(Py_None);
    }
    free(entries);
    free(places);
    close_columns(&columns);
    return done;
}

/* Rank the entries from `begin` on that share a label; where they end. */
static int64_t rank_label(Entry *entries, Entry *spare, const double *score, int64_t begin, int64_t n,
                          int64_t *order) {
    uint64_t label = entries[begin].key;
    int64_t end = begin;
    for (; end < n && entries[end].key == label; end++)
        entries[end].key = descending(score[entries[end].row]);
    const Entry *sorted = sort_entries(entries + begin, spare + begin, end - begin, 64);
    for (int64_t i = begin; i < end; i++) order[i] = sorted[i - begin].row;
    return end;
}

/* ranked(label, score, before, order): rows by label, then score descending, then as in `before`.

   label: (n,) int64 from 0. score: (n,) float64, no NaN. before: (n,) int64, an order of the rows, or
   (0,) for 0, 1, 2 ... order: (n,) int64, filled. */
FUNCTION(valor_ranked) {
    (void)self;
    static const Wanted wanted[] = {
        {"label", INTS, false}, {"score", FLOATS, false}, {"before", INTS, false}, {"order", INTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    const int64_t *label = columns.views[0].buf, *before = columns.views[2].buf;
    const double *score = columns.views[1].buf;
    int64_t *order = columns.views[3].buf;
    int64_t n = items(&columns, 0), listed = items(&columns, 2);
    int bits = bits_of(label, n);
    bool sound = items(&columns, 1) == n && items(&columns, 3) == n && (listed == n || listed == 0);
    for (int64_t i = 0; sound && i < listed; i++) sound = before[i] >= 0 && before[i] < n;
    PyObject *done = NULL;
    Entry *entries = malloc(((size_t)n * 2 + 1) * sizeof(Entry));
    if (!entries) {
        PyErr_NoMemory();
    } else if (!sound || bits == 64) {
        refused("labels from 0, as many scores, and orders of as many rows");
    } else {
        if (n) {
            Py_BEGIN_ALLOW_THREADS;
            for (int64_t i = 0; i < n; i++) {
                int64_t row = listed ? before[i] : i;
                entries[i] = (Entry){(uint64_t)label[row], row};
            }
            Entry *labelled = sort_entries(entries, entries + n, n, bits);
            Entry *spare = labelled == entries ? entries + n : entries;
            /* Label after label: most of them fit the processor's cache. */
            for (int64_t begin = 0, end; begin < n; begin = end)
                end = rank_label(labelled, spare, score, begin, n, order);
            Py_END_ALLOW_THREADS;
        }
        done = Py_NewRef(Py_None);
    }
    free(entries);
    close_columns(&columns);
    return done;
}
