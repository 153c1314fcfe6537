/* Masks as run lengths: their boxes, and the pairs that overlap.

   A mask is the range of its counts in a column: background, foreground, background ... down the
   columns of its image. Its edges are where a run of foreground begins and the pixel after its end,
   one pair after the other; runs without pixels are none (pycocotools' toBbox looks at them). All
   sums wrap around, so that no number breaks the arithmetic. */

#include "kernel.h"

typedef struct {
    const void *counts;
    bool narrow;
    const int64_t *starts, *size;
    int64_t n;
} Masks;

typedef struct {
    double left, top, right, bottom;
} Box;

/* Edges of one mask, two a run, and the box around them. */
typedef struct {
    int64_t *edges, n;
    Box box;
} Drawn;

static inline int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t less(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* Fill the edges of a mask: no more than counts. Returns how many. */
static int64_t fill_edges(const Masks *masks, int64_t row, int64_t *edges) {
    int64_t pixel = 0, n = 0, end = masks->starts[row + 1];
    for (int64_t at = masks->starts[row] + 1; at < end; at += 2) {
        pixel = plus(pixel, count_at(masks->counts, masks->narrow, at - 1));
        int64_t length = count_at(masks->counts, masks->narrow, at);
        edges[n] = pixel;
        edges[n + 1] = pixel = plus(pixel, length);
        n += length ? 2 : 0;
    }
    return n;
}

/* The box around n edges in an image of that height. */
static Box box_of(const int64_t *edges, int64_t n, int64_t height) {
    if (!n || height <= 0) return (Box){0, 0, 0, 0};
    int64_t column = edges[0] - edges[0] % height, low = height, high = 0;
    for (int64_t at = 0; at < n; at += 2) {
        int64_t top = less(edges[at], column);
        if (top >= height || top < 0) {
            /* Mostly in the next column: no division. */
            top = top >= height && top - height < height ? top - height : edges[at] % height;
            column = less(edges[at], top);
        }
        int64_t bottom = plus(top, less(edges[at + 1], edges[at]));
        low = top < low ? top : low;
        high = bottom > high ? bottom : high;
    }
    /* A run that goes on in the next column touches the top and the bottom of the image. */
    if (high > height) low = 0, high = height;
    double left = (double)(edges[0] / height);
    double right = (double)(less(edges[n - 1], 1) / height) + 1;
    return (Box){left, (double)low, right, (double)high};
}

static double shared_box(Box a, Box b) {
    double left = a.left > b.left ? a.left : b.left, right = a.right < b.right ? a.right : b.right;
    double top = a.top > b.top ? a.top : b.top, bottom = a.bottom < b.bottom ? a.bottom : b.bottom;
    return right > left && bottom > top ? (right - left) * (bottom - top) : 0;
}

/* The first of n edges of runs that end behind a pixel. */
static int64_t first_behind(const int64_t *edges, int64_t n, int64_t pixel) {
    int64_t low = 0, high = n / 2;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (edges[2 * middle + 1] > pixel) high = middle;
        else low = middle + 1;
    }
    return 2 * low;
}

/* How many pixels two masks share. */
static int64_t shared_pixels(const Drawn *a, const Drawn *b) {
    if (!a->n || !b->n) return 0;
    const int64_t *one = a->edges, *other = b->edges;
    /* A large mask is passed over up to where the other one begins. */
    int64_t i = first_behind(one, a->n, other[0]), j = first_behind(other, b->n, one[0]);
    int64_t shared = 0;
    while (i < a->n && j < b->n) {
        int64_t begin = one[i] > other[j] ? one[i] : other[j];
        int64_t own = one[i + 1], its = other[j + 1], end = own < its ? own : its;
        if (end > begin) shared = plus(shared, less(end, begin));
        /* No branch for what is as often so as not. */
        i += own <= its ? 2 : 0;
        j += its <= own ? 2 : 0;
    }
    return shared;
}

static bool sound_masks(const Columns *columns, int at, Masks *masks) {
    int64_t n = items(columns, at + 1) - 1;
    const int64_t *starts = columns->views[at + 1].buf;
    *masks = (Masks){columns->views[at].buf, is_narrow(columns, at), starts,
                     columns->views[at + 2].buf, n};
    return n >= 0 && items(columns, at + 2) == 2 * n && are_starts(starts, n, items(columns, at));
}

/* bounded(counts, starts, size, rows, box): boxes around masks.

   counts: int32 or int64; starts: (n + 1,) int64, where those of each mask begin; size: (n, 2) int64
   height and width. rows: (m,) int64, which masks. box: (m, 4) float64 x, y, width, height, filled;
   zeros around no foreground. */
FUNCTION(valor_bounded) {
    (void)self;
    static const Wanted wanted[] = {{"counts", COUNTS, false},
                                    {"starts", INTS, false},
                                    {"size", INTS, false},
                                    {"rows", INTS, false},
                                    {"box", FLOATS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 5)) return NULL;
    Masks masks;
    const int64_t *rows = columns.views[3].buf;
    double *box = columns.views[4].buf;
    int64_t n = items(&columns, 3), most = 0;
    bool sound = sound_masks(&columns, 0, &masks) && items(&columns, 4) == 4 * n;
    for (int64_t i = 0; sound && i < n; i++) {
        sound = rows[i] >= 0 && rows[i] < masks.n;
        int64_t count = sound ? masks.starts[rows[i] + 1] - masks.starts[rows[i]] : 0;
        most = count > most ? count : most;
    }
    int64_t *edges = sound ? calloc((size_t)most + 1, sizeof *edges) : NULL;
    PyObject *done = NULL;
    if (!sound) {
        refused("masks, rows of them, and a box for each");
    } else if (!edges) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t i = 0; i < n; i++) {
            int64_t count = fill_edges(&masks, rows[i], edges);
            Box own = box_of(edges, count, masks.size[2 * rows[i]]);
            const double found[] = {own.left, own.top, own.right - own.left, own.bottom - own.top};
            memcpy(box + 4 * i, found, sizeof found);
        }
        Py_END_ALLOW_THREADS;
        done = Py_NewRef(Py_None);
    }
    free(edges);
    close_columns(&columns);
    return done;
}

/* taken_counts(counts, starts, size, rows, taken): the counts of some masks, one after the other.

   counts, starts, size: as for bounded. rows: (m,) int64, which masks. taken: as wide as counts,
   filled, as many as they have. */
FUNCTION(valor_taken_counts) {
    (void)self;
    static const Wanted wanted[] = {{"counts", COUNTS, false},
                                    {"starts", INTS, false},
                                    {"size", INTS, false},
                                    {"rows", INTS, false},
                                    {"taken", COUNTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 5)) return NULL;
    Masks masks;
    const int64_t *rows = columns.views[3].buf;
    const char *counts = columns.views[0].buf;
    char *taken = columns.views[4].buf;
    int64_t n = items(&columns, 3), left = items(&columns, 4);
    bool sound = sound_masks(&columns, 0, &masks) && is_narrow(&columns, 4) == masks.narrow;
    for (int64_t i = 0; sound && i < n; i++) {
        sound = rows[i] >= 0 && rows[i] < masks.n;
        left -= sound ? masks.starts[rows[i] + 1] - masks.starts[rows[i]] : 0;
        sound = sound && left >= 0;
    }
    sound = sound && left == 0;
    if (sound) {
        Py_BEGIN_ALLOW_THREADS;
        size_t width = masks.narrow ? 4 : 8;
        for (int64_t i = 0; i < n; i++) {
            int64_t begin = masks.starts[rows[i]], end = masks.starts[rows[i] + 1];
            memcpy(taken, counts + (size_t)begin * width, (size_t)(end - begin) * width);
            taken += (size_t)(end - begin) * width;
        }
        Py_END_ALLOW_THREADS;
    }
    close_columns(&columns);
    return sound ? Py_NewRef(Py_None) : refused("masks, rows of them, and room for their counts");
}

/* Everything that one call about pairs was given. */
typedef struct {
    Masks mine, theirs;
    const int64_t *rows, *first, *count;
    const double *own, *other;
    const uint8_t *crowd;
    double least;
    int64_t n, *pair_mine, *pair_theirs;
    double *iou;
} Asked;

static bool sound_pairs(const Columns *columns, Asked *asked) {
    *asked = (Asked){.rows = columns->views[6].buf,
                     .first = columns->views[7].buf,
                     .count = columns->views[8].buf,
                     .own = columns->views[9].buf,
                     .other = columns->views[10].buf,
                     .crowd = columns->views[11].buf,
                     .n = items(columns, 6),
                     .pair_mine = columns->views[12].buf,
                     .pair_theirs = columns->views[13].buf,
                     .iou = columns->views[14].buf};
    bool sound = sound_masks(columns, 0, &asked->mine) && sound_masks(columns, 3, &asked->theirs);
    int64_t n = asked->n, m = asked->theirs.n, room = items(columns, 12);
    sound = sound && items(columns, 7) == n && items(columns, 8) == n && items(columns, 9) == n &&
            items(columns, 10) == m && items(columns, 11) == m && items(columns, 13) == room &&
            items(columns, 14) == room;
    for (int64_t i = 0; sound && i < n; i++) {
        int64_t row = asked->rows[i], first = asked->first[i], count = asked->count[i];
        sound = row >= 0 && row < asked->mine.n && count >= 0 && count <= room &&
                (!count || (first >= 0 && first <= m && count <= m - first));
        room -= sound ? count : 0;
    }
    return sound;
}

/* The IoU if so many pixels are shared, of whole numbers: it grows with them, rounded or not. */
static inline double iou_of(const Asked *asked, int64_t i, int64_t g, double shared) {
    double union_ = asked->crowd[g] ? asked->own[i] : asked->own[i] + asked->other[g] - shared;
    return union_ != 0 ? shared / union_ : 0;
}

/* Draw a mask for the first pair that needs it. */
static void draw(const Masks *masks, int64_t row, Drawn *drawn) {
    if (drawn->n >= 0) return;
    drawn->n = fill_edges(masks, row, drawn->edges);
    drawn->box = box_of(drawn->edges, drawn->n, masks->size[2 * row]);
}

/* Most pairs do not overlap enough: their areas tell so, or their boxes. Runs are looked at of the
   others alone. `edges` is room for one detection's; `theirs` begins with ground truth `low`. */
static int64_t fill_pairs(const Asked *asked, int64_t *edges, Drawn *theirs, int64_t low) {
    int64_t found = 0;
    for (int64_t i = 0; i < asked->n; i++) {
        int64_t row = asked->rows[i];
        const int64_t *size = asked->mine.size + 2 * row;
        Drawn mine = {edges, -1, {0, 0, 0, 0}};
        for (int64_t g = asked->first[i], end = g + asked->count[i]; g < end; g++) {
            Drawn *its = &theirs[g - low];
            if (memcmp(size, asked->theirs.size + 2 * g, 2 * sizeof *size)) continue;
            double most = asked->own[i] < asked->other[g] ? asked->own[i] : asked->other[g];
            if (!(iou_of(asked, i, g, most) >= asked->least)) continue;
            draw(&asked->mine, row, &mine);
            draw(&asked->theirs, g, its);
            double within = shared_box(mine.box, its->box);
            most = within < most ? within : most;
            if (!(iou_of(asked, i, g, most) >= asked->least)) continue;
            double iou = iou_of(asked, i, g, (double)shared_pixels(&mine, its));
            if (!(iou >= asked->least)) continue;
            asked->pair_mine[found] = i;
            asked->pair_theirs[found] = g;
            asked->iou[found++] = iou;
        }
    }
    return found;
}

/* overlapping_masks(detection masks, ground truth masks, rows, first, count, own, other, crowd,
   detection, ground_truth, iou, least): how many pairs have an IoU of `least` or more.

   Masks: counts, starts and size as for bounded. rows: (n,) int64, which detections; first, count:
   (n,) int64, the range of m ground truths that each is compared with; own: (n,) and other: (m,)
   float64 areas; crowd: (m,) bool. detection (as it stands in rows), ground_truth, iou:
   int64, int64, float64, filled, with room for all pairs that are compared. least: a float. */
FUNCTION(valor_overlapping_masks) {
    (void)self;
    static const Wanted wanted[] = {
        {"detections", COUNTS, false},    {"starts", INTS, false}, {"size", INTS, false},
        {"ground_truths", COUNTS, false}, {"starts", INTS, false}, {"size", INTS, false},
        {"rows", INTS, false},            {"first", INTS, false},  {"count", INTS, false},
        {"own", FLOATS, false},           {"other", FLOATS, false}, {"crowd", BYTES, false},
        {"detection", INTS, true},        {"ground_truth", INTS, true}, {"iou", FLOATS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 15)) return NULL;
    Asked asked;
    bool sound = sound_pairs(&columns, &asked);
    asked.least = given > 15 ? PyFloat_AsDouble(args[15]) : -1;
    if (PyErr_Occurred()) {
        close_columns(&columns);
        return NULL;
    }
    int64_t most = 0, m = asked.theirs.n, low = m, high = 0;
    for (int64_t i = 0; sound && i < asked.n; i++) {
        int64_t row = asked.rows[i], first = asked.first[i], end = first + asked.count[i];
        if (first == end) continue;
        int64_t count = asked.mine.starts[row + 1] - asked.mine.starts[row];
        most = count > most ? count : most;
        low = first < low ? first : low;
        high = end > high ? end : high;
    }
    /* The ground truths that are compared, each with room for its edges; none is drawn yet. */
    low = low < high ? low : high;
    const int64_t *starts = asked.theirs.starts;
    size_t room = sound ? (size_t)(most + starts[high] - starts[low]) + 1 : 1;
    int64_t *edges = calloc(room, sizeof *edges);
    Drawn *theirs = calloc((size_t)(high - low) + 1, sizeof *theirs);
    PyObject *done = NULL;
    if (!sound) {
        refused("masks, rows and ranges of them, and room for all pairs");
    } else if (!edges || !theirs) {
        PyErr_NoMemory();
    } else {
        int64_t found;
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t g = low; g < high; g++)
            theirs[g - low] = (Drawn){edges + most + starts[g] - starts[low], -1, {0, 0, 0, 0}};
        found = fill_pairs(&asked, edges, theirs, low);
        Py_END_ALLOW_THREADS;
        done = PyLong_FromLongLong(found);
    }
    free(edges);
    free(theirs);
    close_columns(&columns);
    return done;
}
