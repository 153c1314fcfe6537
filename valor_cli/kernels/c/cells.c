/* Cells: the objects of one label in one image. */

#include "kernel.h"

typedef struct {
    const int64_t *label, *image, *truth_label, *truth_image;
    int64_t *rank, *row, *first, *count;
    int64_t detections, truths, images, met;
    int64_t *begin, *size, *seen; /* (images,): of one label, truths from where; detections so far */
} Meet;

/* Whether labels ascend, of ground truths images too, and all images are such as there are. */
static bool is_sound(const int64_t *label, const int64_t *image, int64_t n, int64_t images,
                     bool by_image) {
    for (int64_t i = 0; i < n; i++) {
        if (image[i] < 0 || image[i] >= images) return false;
        if (i == 0) continue;
        if (label[i] < label[i - 1]) return false;
        if (by_image && label[i] == label[i - 1] && image[i] < image[i - 1]) return false;
    }
    return true;
}

/* The detections of one label, from `d` on, beside its ground truths, from `t` to `end`. */
static int64_t meet_label(Meet *meet, int64_t d, int64_t t, int64_t end) {
    int64_t label = meet->label[d], start = d;
    for (int64_t i = t; i < end; i++) {
        int64_t image = meet->truth_image[i];
        if (!meet->size[image]++) meet->begin[image] = i;
    }
    for (; d < meet->detections && meet->label[d] == label; d++) {
        int64_t image = meet->image[d];
        meet->rank[d] = meet->seen[image]++;
        if (!meet->size[image]) continue;
        meet->row[meet->met] = d;
        meet->first[meet->met] = meet->begin[image];
        meet->count[meet->met++] = meet->size[image];
    }
    for (int64_t i = t; i < end; i++) meet->size[meet->truth_image[i]] = 0;
    for (int64_t i = start; i < d; i++) meet->seen[meet->image[i]] = 0;
    return d;
}

static void meet_all(Meet *meet) {
    int64_t t = 0;
    for (int64_t d = 0; d < meet->detections;) {
        while (t < meet->truths && meet->truth_label[t] < meet->label[d]) t++;
        int64_t end = t;
        while (end < meet->truths && meet->truth_label[end] == meet->label[d]) end++;
        d = meet_label(meet, d, t, end);
        t = end;
    }
}

/* meet(label, image, truth_label, truth_image, rank, row, first, count, images) -> met: which
   detections share a cell with ground truths.

   label, image: (n,) int64, labels ascending. truth_label, truth_image: (m,) int64, ascending by label,
   then image. rank: (n,) int64, filled with the place of each detection in its cell, from 0. row, first,
   count: (n,) int64; of each detection that shares a cell, filled with its row, the first ground truth
   of the cell, and how many there are. images: how many there are. */
FUNCTION(valor_meet) {
    (void)self;
    static const Wanted wanted[] = {
        {"label", INTS, false},       {"image", INTS, false}, {"truth_label", INTS, false},
        {"truth_image", INTS, false}, {"rank", INTS, true},   {"row", INTS, true},
        {"first", INTS, true},        {"count", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 8)) return NULL;
    Meet meet = {
        .label = columns.views[0].buf,
        .image = columns.views[1].buf,
        .truth_label = columns.views[2].buf,
        .truth_image = columns.views[3].buf,
        .rank = columns.views[4].buf,
        .row = columns.views[5].buf,
        .first = columns.views[6].buf,
        .count = columns.views[7].buf,
        .detections = items(&columns, 0),
        .truths = items(&columns, 2),
        .images = given > 8 ? PyLong_AsLongLong(args[8]) : -1,
    };
    PyObject *done = NULL;
    int64_t *memory = NULL;
    bool sound = meet.images >= 0 && items(&columns, 1) == meet.detections &&
                 items(&columns, 3) == meet.truths;
    for (int at = 4; at < 8; at++) sound = sound && items(&columns, at) == meet.detections;
    if (PyErr_Occurred()) goto end;
    sound = sound && is_sound(meet.label, meet.image, meet.detections, meet.images, false) &&
            is_sound(meet.truth_label, meet.truth_image, meet.truths, meet.images, true);
    if (!sound) {
        refused("cells in another order, or numbers that lead outside them");
        goto end;
    }
    memory = calloc((size_t)meet.images * 3 + 1, sizeof(int64_t));
    if (!memory) {
        PyErr_NoMemory();
        goto end;
    }
    meet.begin = memory;
    meet.size = memory + meet.images;
    meet.seen = memory + 2 * meet.images;
    Py_BEGIN_ALLOW_THREADS;
    meet_all(&meet);
    Py_END_ALLOW_THREADS;
    done = PyLong_FromLongLong(meet.met);
end:
    free(memory);
    close_columns(&columns);
    return done;
}
