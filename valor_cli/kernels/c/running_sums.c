/* Sums of the weights of ranked rows, for several resamples. */

#include "kernel.h"

enum { LANES = 8 };

/* running_sums(row, stop, weight, found): what the rows before each stop weigh in LANES resamples.

   row: (k,) counts. stop: (s,) int64, ascending, of rows. weight: (rows, LANES) int32. found:
   (LANES, s) int64, filled. */
FUNCTION(valor_running_sums) {
    (void)self;
    static const Wanted wanted[] = {
        {"row", COUNTS, false}, {"stop", INTS, false}, {"weight", COUNTS, false},
        {"found", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    const void *row = columns.views[0].buf;
    const int64_t *stop = columns.views[1].buf;
    const int32_t(*weight)[LANES] = columns.views[2].buf;
    int64_t *found = columns.views[3].buf;
    int64_t count = items(&columns, 0), stops = items(&columns, 1);
    int64_t rows = items(&columns, 2) / LANES, at = 0, sum[LANES] = {0};
    bool narrow = is_narrow(&columns, 0);
    bool sound = is_narrow(&columns, 2) && items(&columns, 2) == rows * LANES &&
                 items(&columns, 3) == stops * LANES;
    for (int64_t i = 0; sound && i < count; i++)
        sound = (uint64_t)count_at(row, narrow, i) < (uint64_t)rows;
    for (int64_t i = 0; sound && i < stops; i++)
        sound = stop[i] >= (i ? stop[i - 1] : 0) && stop[i] <= count;
    if (!sound) {
        close_columns(&columns);
        return refused("rows without a weight, stops that do not ascend, or columns of other "
                       "lengths");
    }
    Py_BEGIN_ALLOW_THREADS;
    for (int64_t i = 0; i < stops; i++) {
        for (; at < stop[i]; at++) {
            const int32_t *own = weight[count_at(row, narrow, at)];
            for (int lane = 0; lane < LANES; lane++) sum[lane] += own[lane];
        }
        for (int lane = 0; lane < LANES; lane++) found[lane * stops + i] = sum[lane];
    }
    Py_END_ALLOW_THREADS;
    close_columns(&columns);
    return Py_NewRef(Py_None);
}
