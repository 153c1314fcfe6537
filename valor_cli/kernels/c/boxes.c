/* Overlap of axis-aligned boxes, as maskApi's bbIou in pycocotools has it. */

#include "kernel.h"

typedef struct {
    double x, y, width, height;
} Box;

/* overlapping_boxes(detections, rows, ground_truths, crowd, first, count, detection, ground_truth,
   iou, least) -> pairs: those of a detection and a ground truth whose IoU is at least `least` > 0.

   detections: (d, 4) float64, x, y, width, height. rows: (n,) int64, which of them are looked at.
   ground_truths: (m, 4) likewise. crowd: (m,) bool. first, count: (n,) int64, the ground truths that
   each is compared with. detection, ground_truth: (room,) int64, filled with the places in `rows` and
   the ground truths of the pairs, in this order. iou: (room,) float64, filled. */
FUNCTION(valor_overlapping_boxes) {
    (void)self;
    static const Wanted wanted[] = {
        {"detections", FLOATS, false}, {"rows", INTS, false},      {"ground_truths", FLOATS, false},
        {"crowd", BYTES, false},       {"first", INTS, false},     {"count", INTS, false},
        {"detection", INTS, true},     {"ground_truth", INTS, true}, {"iou", FLOATS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 9)) return NULL;
    const Box *detections = columns.views[0].buf, *truths = columns.views[2].buf;
    const int64_t *rows = columns.views[1].buf;
    const uint8_t *crowd = columns.views[3].buf;
    const int64_t *first = columns.views[4].buf, *count = columns.views[5].buf;
    int64_t *detection = columns.views[6].buf, *ground_truth = columns.views[7].buf;
    double *ious = columns.views[8].buf, least = given > 9 ? PyFloat_AsDouble(args[9]) : -1;
    int64_t n = items(&columns, 1), m = items(&columns, 3), room = items(&columns, 6), pairs = 0;
    int64_t boxes = items(&columns, 0) / 4;
    bool sound = items(&columns, 0) == 4 * boxes && items(&columns, 2) == 4 * m &&
                 items(&columns, 4) == n && items(&columns, 5) == n && items(&columns, 7) == room &&
                 items(&columns, 8) == room;
    PyObject *done = NULL;
    if (PyErr_Occurred()) goto end;
    Py_BEGIN_ALLOW_THREADS;
    for (int64_t d = 0; sound && d < n; d++) {
        if (first[d] < 0 || count[d] < 0 || first[d] > m || count[d] > m - first[d] || rows[d] < 0 ||
            rows[d] >= boxes) {
            sound = false;
            break;
        }
        const Box a = detections[rows[d]];
        double right = a.width + a.x, bottom = a.height + a.y, area = a.width * a.height;
        for (int64_t g = first[d]; g < first[d] + count[d]; g++) {
            const Box b = truths[g];
            double b_right = b.width + b.x, b_bottom = b.height + b.y;
            double width = (right < b_right ? right : b_right) - (a.x > b.x ? a.x : b.x);
            if (!(width > 0)) continue;
            double height = (bottom < b_bottom ? bottom : b_bottom) - (a.y > b.y ? a.y : b.y);
            if (!(height > 0)) continue;
            double shared = width * height;
            /* With a crowd region the union is the detection alone. */
            double whole = crowd[g] ? area : area + b.width * b.height - shared;
            double iou = whole != 0 ? shared / whole : 0;
            if (!(iou >= least)) continue;
            if (pairs == room) {
                sound = false;
                break;
            }
            detection[pairs] = d;
            ground_truth[pairs] = g;
            ious[pairs++] = iou;
        }
    }
    Py_END_ALLOW_THREADS;
    done = sound ? PyLong_FromLongLong(pairs) : refused("boxes of other lengths, or no room");
end:
    close_columns(&columns);
    return done;
}
