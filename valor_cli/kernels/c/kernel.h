/* What all subjects of the compiled kernel share.

   Each file holds one subject. A function that Python calls takes columns (numpy arrays, bytes) and
   fills columns that the caller made; sizes and types are checked here, what the numbers mean is the
   caller's word, but no number may lead it outside a column. While it works, other threads of Python
   run. It knows no numpy. Its slow twin stands in the module of valor_cli/kernels that calls it, and
   is what the tests hold it against. */

#ifndef VALOR_KERNEL_H
#define VALOR_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "doubles are computed in another precision here: the numpy engine is to be used"
#endif

/* Raised whenever a function takes or fills other columns; engine.py names the one it knows. */
#define REVISION 8

/* The most columns that a function takes. */
#define MOST_COLUMNS 24

/* One column that a function takes: BYTES (uint8, bool, bytes), INTS (int64), FLOATS (float64) or
   COUNTS (int32 or int64, as lengths of runs); written if it is filled. */
typedef enum { BYTES, INTS, FLOATS, COUNTS } Kind;
typedef struct {
    const char *name;
    Kind kind;
    bool written;
} Wanted;

/* The columns of one call. */
typedef struct {
    Py_buffer views[MOST_COLUMNS];
    int open;
} Columns;

/* Open the columns that a call was given; on false an error of Python is set and none is open. */
bool open_columns(Columns *columns, PyObject *const *args, Py_ssize_t given, const Wanted *wanted,
                  int count);
void close_columns(Columns *columns);

/* Items of a column. */
static inline int64_t items(const Columns *columns, int at) {
    return columns->views[at].len / columns->views[at].itemsize;
}

/* Whether a column of COUNTS has 32 bits; one count of it, read or written. */
static inline bool is_narrow(const Columns *columns, int at) {
    return columns->views[at].itemsize == 4;
}
static inline int64_t count_at(const void *counts, bool narrow, int64_t at) {
    return narrow ? ((const int32_t *)counts)[at] : ((const int64_t *)counts)[at];
}
static inline void put_count(void *counts, bool narrow, int64_t at, int64_t count) {
    if (narrow) ((int32_t *)counts)[at] = (int32_t)count;
    else ((int64_t *)counts)[at] = count;
}

/* Whether n + 1 numbers say where n ranges of up to `most` items begin, and the last one's end. */
static inline bool are_starts(const int64_t *starts, int64_t n, int64_t most) {
    bool sound = starts[0] >= 0 && starts[n] <= most;
    for (int64_t i = 0; sound && i < n; i++) sound = starts[i] <= starts[i + 1];
    return sound;
}

/* The fewest true positives k, at least 1, with k / truths >= recall. */
int64_t needed_hits(double recall, int64_t truths);

/* What becomes of a detection; 0 is unmatched. */
enum { MATCHED = 1, IGNORED = 2 };

/* Set a ValueError and return NULL. */
PyObject *refused(const char *message);

/* Functions of Python, by file. */
#define FUNCTION(name) PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t given)
FUNCTION(valor_order_by_group);
FUNCTION(valor_ranked);
FUNCTION(valor_detected_boxes);
FUNCTION(valor_detected_masks);
FUNCTION(valor_annotated_boxes);
FUNCTION(valor_members);
FUNCTION(valor_overlapping_boxes);
FUNCTION(valor_match);
FUNCTION(valor_meet);
FUNCTION(valor_interpolate);
FUNCTION(valor_average_precisions);
FUNCTION(valor_tally_resamples);
FUNCTION(valor_running_sums);
FUNCTION(valor_order_hits);
FUNCTION(valor_reaching);
FUNCTION(valor_decoded_counts);
FUNCTION(valor_drawn_room);
FUNCTION(valor_drawn_counts);
FUNCTION(valor_bounded);
FUNCTION(valor_taken_counts);
FUNCTION(valor_overlapping_masks);
FUNCTION(valor_png_pixels);
FUNCTION(valor_meetings);
FUNCTION(valor_json_tape);
FUNCTION(valor_csv_tape);
FUNCTION(valor_decimals);
FUNCTION(valor_coded);
FUNCTION(valor_held);
FUNCTION(valor_inside);
FUNCTION(valor_padded);

#endif
