/* Overlap of axis-aligned boxes, as maskApi's bbIou in pycocotools has it. */

#include "kernel.h"

typedef struct {
    double x, y, width, height;
} Box;

/* Ground truths side by side: corners, and the area; and room for what one detection shares with each
   that it is compared with. */
typedef struct {
    double *left, *top, *right, *bottom, *area, *shared;
} Sides;

/* False if there is no memory. */
static bool open_sides(Sides *sides, const Box *boxes, int64_t m) {
    sides->left = malloc(((size_t)m * 6 + 1) * sizeof(double));
    if (!sides->left) return false;
    sides->top = sides->left + m;
    sides->right = sides->left + 2 * m;
    sides->bottom = sides->left + 3 * m;
    sides->area = sides->left + 4 * m;
    sides->shared = sides->left + 5 * m;
    for (int64_t g = 0; g < m; g++) {
        sides->left[g] = boxes[g].x;
        sides->top[g] = boxes[g].y;
        sides->right[g] = boxes[g].width + boxes[g].x;
        sides->bottom[g] = boxes[g].height + boxes[g].y;
        sides->area[g] = boxes[g].width * boxes[g].height;
    }
    return true;
}

/* The areas that a box shares with some ground truths: without branches, several at a time. */
static void share(const Sides *sides, Box a, int64_t first, int64_t count) {
    const double *left = sides->left + first, *top = sides->top + first;
    const double *rights = sides->right + first, *bottoms = sides->bottom + first;
    double *restrict shared = sides->shared;
    double right = a.width + a.x, bottom = a.height + a.y;
    for (int64_t g = 0; g < count; g++) {
        double width = (right < rights[g] ? right : rights[g]) - (a.x > left[g] ? a.x : left[g]);
        double height = (bottom < bottoms[g] ? bottom : bottoms[g]) - (a.y > top[g] ? a.y : top[g]);
        shared[g] = (width > 0 ? width : 0) * (height > 0 ? height : 0);
    }
}

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
    double below = least * (1 - 1e-9);
    Sides sides = {0};
    PyObject *done = NULL;
    if (PyErr_Occurred()) goto end;
    if (sound && !open_sides(&sides, truths, m)) {
        PyErr_NoMemory();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS;
    for (int64_t d = 0; sound && d < n; d++) {
        if (first[d] < 0 || count[d] < 0 || first[d] > m || count[d] > m - first[d] || rows[d] < 0 ||
            rows[d] >= boxes) {
            sound = false;
            break;
        }
        const Box a = detections[rows[d]];
        double area = a.width * a.height;
        share(&sides, a, first[d], count[d]);
        for (int64_t g = first[d]; g < first[d] + count[d]; g++) {
            double shared = sides.shared[g - first[d]];
            /* With a crowd region the union is the detection alone. */
            double whole = crowd[g] ? area : area + sides.area[g] - shared;
            /* Most share less by far: none of these is divided. */
            if (shared < whole * below || !(shared > 0)) continue;
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
    free(sides.left);
    close_columns(&columns);
    return done;
}
