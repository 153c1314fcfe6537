/* Polygons drawn as masks: the counts of pycocotools' maskApi.c (rleFrPoly) to the last one.

   It draws the outline five times as large, point by point, and wants to know where the outline
   goes from one column of pixels to the next: between the points 5 k + 2 and 5 k + 3. Here only
   these places are computed, with its arithmetic, so what it costs is columns and not points. What
   lies left or right of the image costs nothing. Three of its quirks have no effect, for they touch
   points left of the image or within a column alone, and need no twin: negative coordinates are
   rounded towards 0; the slope of an edge without length is 0 / 0; a vertical edge is drawn, too. */

#include "kernel.h"

#define SCALE 5
/* Farther points are cut by the caller. */
#define FARTHEST (1 << 20)
#define LARGEST_SIDE (1 << 20)
/* Up to so many rows of a column are sorted by insertion. */
#define FEW 16

/* Where an outline goes from a column to the next: at which row. */
typedef struct {
    int32_t column, row;
} Crossing;

/* Ends of an edge, five times as large. */
typedef struct {
    int64_t xs, ys, xe, ye;
} Edge;

static inline int64_t enlarged(double coordinate) { return (int64_t)(SCALE * coordinate + .5); }

/* The edge from point `at` of n points, the last one's to the first. */
static inline Edge edge_from(const double *points, int64_t at, int64_t n) {
    const double *from = points + 2 * at, *to = at + 1 < n ? from + 2 : points;
    return (Edge){enlarged(from[0]), enlarged(from[1]), enlarged(to[0]), enlarged(to[1])};
}

/* The columns of an image that an edge leaves or enters on the right, from `first` to `last`. */
static inline void columns_of(Edge edge, int64_t width, int64_t *first, int64_t *last) {
    int64_t low = edge.xs < edge.xe ? edge.xs : edge.xe;
    int64_t high = edge.xs < edge.xe ? edge.xe : edge.xs;
    *first = low <= 2 ? 0 : (low + 2) / SCALE;
    *last = high < 3 ? -1 : (high - 3) / SCALE;
    if (*last >= width) *last = width - 1;
}

static int64_t crossings_of(const double *points, int64_t n, int64_t width) {
    int64_t crossings = 0, first, last;
    for (int64_t at = 0; at < n; at++) {
        columns_of(edge_from(points, at, n), width, &first, &last);
        if (last >= first) crossings += last - first + 1;
    }
    return crossings;
}

/* The row of a point: ceil((v + .5) / 5 - .5), within the image. */
static inline int32_t row_of(int64_t v, int64_t height) {
    int64_t row = v <= 2 ? 0 : (v + 2) / SCALE;
    return (int32_t)(row < height ? row : height);
}

/* The smaller v of the points left and right of where an edge goes to the next column. */
static inline int64_t flat_edge(Edge edge, double slope, int64_t column) {
    int64_t t = SCALE * column + 2 - edge.xs;
    int64_t left = (int64_t)((double)edge.ys + slope * (double)t + .5);
    int64_t right = (int64_t)((double)edge.ys + slope * (double)(t + 1) + .5);
    return left < right ? left : right;
}

static inline bool is_over(Edge edge, double slope, int64_t t, double border) {
    bool right = (double)edge.xs + slope * (double)t + .5 >= border;
    return right == (slope > 0);
}

/* Likewise of an edge that is taller than wide, along which v grows by 1: one before the first t on
   the other side, which the quotient misses by rounding alone. */
static inline int64_t steep_edge(Edge edge, double slope, int64_t column) {
    int64_t height = edge.ye - edge.ys;
    double border = (double)(SCALE * column + 3);
    int64_t t = (int64_t)((border - .5 - (double)edge.xs) / slope);
    t = t < 1 ? 1 : t > height ? height : t;
    while (t < height && !is_over(edge, slope, t, border)) t++;
    while (t > 1 && is_over(edge, slope, t - 1, border)) t--;
    return edge.ys + t - 1;
}

/* Fill the crossings of a ring, as many as crossings_of says; returns how many. */
static int64_t cross(const double *points, int64_t n, int64_t height, int64_t width,
                     Crossing *crossings) {
    int64_t count = 0, first, last;
    for (int64_t at = 0; at < n; at++) {
        Edge edge = edge_from(points, at, n);
        columns_of(edge, width, &first, &last);
        if (last < first) continue;
        int64_t dx = llabs(edge.xe - edge.xs), dy = llabs(edge.ye - edge.ys);
        bool flat = dx >= dy;
        if (flat ? edge.xs > edge.xe : edge.ys > edge.ye)
            edge = (Edge){edge.xe, edge.ye, edge.xs, edge.ys};
        double slope = flat ? (double)(edge.ye - edge.ys) / (double)dx
                            : (double)(edge.xe - edge.xs) / (double)dy;
        for (int64_t column = first; column <= last; column++) {
            int64_t v = flat ? flat_edge(edge, slope, column) : steep_edge(edge, slope, column);
            crossings[count++] = (Crossing){(int32_t)column, row_of(v, height)};
        }
    }
    return count;
}

static int by_value(const void *a, const void *b) {
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void sort_few(int64_t *pixels, int64_t n) {
    if (n > FEW) {
        qsort(pixels, (size_t)n, sizeof *pixels, by_value);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        int64_t pixel = pixels[i], at = i;
        for (; at && pixels[at - 1] > pixel; at--) pixels[at] = pixels[at - 1];
        pixels[at] = pixel;
    }
}

/* The first pixels below n crossings, ascending. `places` has room for one more than there are
   columns, all 0, and is so again. */
static void sort_crossings(const Crossing *crossings, int64_t n, int64_t height, int64_t *places,
                           int64_t *pixels) {
    int32_t low = INT32_MAX, high = -1;
    for (int64_t i = 0; i < n; i++) {
        int32_t column = crossings[i].column;
        low = column < low ? column : low;
        high = column > high ? column : high;
        places[column + 1]++;
    }
    for (int32_t column = low; column <= high; column++) places[column + 1] += places[column];
    for (int64_t i = 0; i < n; i++) {
        int32_t column = crossings[i].column;
        pixels[places[column]++] = column * height + crossings[i].row;
    }
    /* Each place is now where the next column begins. */
    int64_t begin = 0;
    for (int32_t column = low; column <= high; column++) {
        sort_few(pixels + begin, places[column] - begin);
        begin = places[column];
        places[column] = 0;
    }
    places[high + 1] = 0;
}

/* Write the counts between n pixels, ascending, the last one behind the image. Between two equal
   ones is nothing: what is before them goes on. Returns how many counts there are. */
static int64_t write_counts(const int64_t *pixels, int64_t n, void *counts, bool narrow, int64_t at,
                            int64_t *foreground) {
    int64_t grounds[2] = {0, 0}, m = 0, count = pixels[0];
    for (int64_t j = 1; j < n; j++) {
        int64_t more = pixels[j] - pixels[j - 1];
        if (more) {
            grounds[m & 1] += count;
            put_count(counts, narrow, at + m++, count);
            count = more;
        } else if (++j < n) {
            count += pixels[j] - pixels[j - 1];
        }
    }
    grounds[m & 1] += count;
    put_count(counts, narrow, at + m++, count);
    *foreground = grounds[1];
    return m;
}

/* The columns that describe n rings. */
typedef struct {
    const double *points;
    const int64_t *rings, *size;
    int64_t n;
} Rings;

static const Wanted rings_wanted[] = {
    {"points", FLOATS, false}, {"rings", INTS, false}, {"size", INTS, false},
    {"counts", COUNTS, true},  {"starts", INTS, true}, {"foreground", INTS, true}};

static bool sound_rings(const Columns *columns, Rings *rings) {
    int64_t numbers = items(columns, 0), n = items(columns, 1) - 1;
    const double *points = columns->views[0].buf;
    const int64_t *at = columns->views[1].buf, *size = columns->views[2].buf;
    bool sound = n >= 0 && items(columns, 2) == 2 * n && are_starts(at, n, numbers / 2);
    for (int64_t i = 0; sound && i < 2 * n; i++) sound = size[i] > 0 && size[i] <= LARGEST_SIDE;
    for (int64_t i = 0; sound && i < numbers; i++)
        sound = points[i] >= -FARTHEST && points[i] <= FARTHEST;
    *rings = (Rings){points, at, size, n};
    return sound;
}

/* drawn_room(points, rings, size): how many counts the masks of rings have at most, all together.

   points: (p, 2) float64, none farther than 2 ** 20. rings: (n + 1,) int64, where the points of each
   ring begin. size: (n, 2) int64 height and width, each from 1 to 2 ** 20. */
FUNCTION(valor_drawn_room) {
    (void)self;
    Columns columns;
    if (!open_columns(&columns, args, given, rings_wanted, 3)) return NULL;
    Rings rings;
    bool sound = sound_rings(&columns, &rings);
    int64_t room = 0;
    if (sound) {
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t i = 0; i < rings.n; i++) {
            int64_t begin = rings.rings[i], points = rings.rings[i + 1] - begin;
            room += crossings_of(rings.points + 2 * begin, points, rings.size[2 * i + 1]) + 1;
        }
        Py_END_ALLOW_THREADS;
    }
    close_columns(&columns);
    return sound ? PyLong_FromLongLong(room) : refused("rings of near points, and sizes of images");
}

/* drawn_counts(points, rings, size, counts, starts, foreground): how many counts are filled.

   points, rings, size: as for drawn_room. counts: int32 or int64, that much room; starts: (n + 1,)
   int64; foreground: (n,) int64. */
FUNCTION(valor_drawn_counts) {
    (void)self;
    Columns columns;
    if (!open_columns(&columns, args, given, rings_wanted, 6)) return NULL;
    Rings rings;
    void *counts = columns.views[3].buf;
    int64_t *starts = columns.views[4].buf, *foreground = columns.views[5].buf;
    bool narrow = is_narrow(&columns, 3);
    bool sound = sound_rings(&columns, &rings) && items(&columns, 4) == rings.n + 1 &&
                 items(&columns, 5) == rings.n;
    int64_t room = 0, most = 0, wide = 0, done = 0;
    for (int64_t i = 0; sound && i < rings.n; i++) {
        int64_t begin = rings.rings[i], points = rings.rings[i + 1] - begin;
        int64_t height = rings.size[2 * i], width = rings.size[2 * i + 1];
        int64_t own = crossings_of(rings.points + 2 * begin, points, width);
        room += own + 1;
        most = own > most ? own : most;
        wide = width > wide ? width : wide;
        sound = !narrow || height * width <= INT32_MAX;
    }
    sound = sound && room <= items(&columns, 3);
    Crossing *crossings = sound ? calloc((size_t)most + 1, sizeof *crossings) : NULL;
    int64_t *pixels = sound ? calloc((size_t)most + 1, sizeof *pixels) : NULL;
    int64_t *places = sound ? calloc((size_t)wide + 1, sizeof *places) : NULL;
    PyObject *filled = NULL;
    if (!sound) {
        refused("rings of near points, sizes of images, and room for all counts");
    } else if (!crossings || !pixels || !places) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t i = 0; i < rings.n; i++) {
            int64_t begin = rings.rings[i], points = rings.rings[i + 1] - begin;
            int64_t height = rings.size[2 * i], width = rings.size[2 * i + 1];
            int64_t n = cross(rings.points + 2 * begin, points, height, width, crossings);
            if (n) sort_crossings(crossings, n, height, places, pixels);
            pixels[n] = height * width;
            starts[i] = done;
            done += write_counts(pixels, n + 1, counts, narrow, done, &foreground[i]);
        }
        starts[rings.n] = done;
        Py_END_ALLOW_THREADS;
        filled = PyLong_FromLongLong(done);
    }
    free(crossings);
    free(pixels);
    free(places);
    close_columns(&columns);
    return filled;
}
