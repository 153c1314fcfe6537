/* Rows of a PNG, as its compressed data hold them, to the values of its pixels.

   Each row begins with the number of its filter, which says what was taken from every byte: the byte
   of the pixel on the left, of the one above, their mean, or of left, above and corner the one
   nearest to left + above - corner (PNG, third edition, section 9). */

#include "kernel.h"

/* So that sizes of images fit 64 bits. */
#define LONGEST_SIDE ((int64_t)1 << 30)

/* Pixels whose bytes are looked at together: in label maps most of them are like their neighbours. */
#define TOGETHER 8

enum { NONE, SUB, UP, AVERAGE, PAETH };

static inline uint64_t word(const uint8_t *bytes) {
    uint64_t found;
    memcpy(&found, bytes, sizeof found);
    return found;
}

static inline uint8_t paeth(int left, int above, int corner) {
    int to_left = abs(above - corner), to_above = abs(left - corner);
    int to_corner = abs(left + above - 2 * corner);
    int nearer = to_above <= to_corner ? above : corner;
    return (uint8_t)(to_left <= to_above && to_left <= to_corner ? left : nearer);
}

static inline uint8_t expected(int filter, uint8_t left, uint8_t above, uint8_t corner) {
    if (filter == SUB) return left;
    return filter == AVERAGE ? (uint8_t)((left + above) >> 1) : paeth(left, above, corner);
}

/* How many bytes from here on are stored as none, where the row above stays as it was: a run that
   goes on there, and here if both begin alike. Whole blocks of pixels alone. */
static inline int64_t alike(const uint8_t *stored, const uint8_t *above, int64_t bytes, int size) {
    int64_t block = TOGETHER * size, at = 0;
    for (; at + block <= bytes; at += block) {
        uint64_t differ = 0;
        for (int64_t part = at; part < at + block; part += 8) {
            differ |= word(stored + part) | (word(above + part) ^ word(above + part - size));
        }
        if (differ) break;
    }
    return at;
}

/* One row whose pixels need the one on the left. `size`, the bytes of a pixel, and `filter` are
   known where this is called: what is not needed falls away. */
static inline void from_left(int filter, const uint8_t *stored, const uint8_t *above, uint8_t *line,
                             int64_t bytes, int size) {
    uint8_t left[4] = {0}, corner[4] = {0};
    int64_t at = 0;
    while (at + size <= bytes) {
        if (at && !memcmp(left, corner, (size_t)size)) {
            int64_t run = alike(stored + at, above + at, bytes - at, size);
            memcpy(line + at, above + at, (size_t)run);
            at += run;
        }
        int64_t end = at + TOGETHER * size <= bytes ? at + TOGETHER * size : bytes;
        for (; at + size <= end; at += size) {
            for (int part = 0; part < size; part++) {
                uint8_t over = above[at + part];
                left[part] = (uint8_t)(stored[at + part] +
                                       expected(filter, left[part], over, corner[part]));
                corner[part] = over;
                line[at + part] = left[part];
            }
        }
    }
}

/* The same for bytes that are like the one on the left, of one byte a pixel. */
static inline void sub_bytes(const uint8_t *stored, uint8_t *line, int64_t bytes) {
    uint8_t left = 0;
    int64_t at = 0;
    while (at < bytes) {
        for (; at + 8 <= bytes && !word(stored + at); at += 8) {
            uint64_t all = left * (UINT64_MAX / 255);
            memcpy(line + at, &all, sizeof all);
        }
        int64_t end = at + 8 <= bytes ? at + 8 : bytes;
        for (; at < end; at++) line[at] = left = (uint8_t)(left + stored[at]);
    }
}

static inline void of_size(int filter, const uint8_t *stored, const uint8_t *above, uint8_t *line,
                           int64_t bytes, int size) {
    if (filter == SUB && size == 1) sub_bytes(stored, line, bytes);
    if (filter == SUB && size > 1) from_left(SUB, stored, above, line, bytes, size);
    if (filter == AVERAGE) from_left(AVERAGE, stored, above, line, bytes, size);
    if (filter == PAETH) from_left(PAETH, stored, above, line, bytes, size);
}

/* Undo the filter of one row. `above` is the row before it, or zeros; `size` is 1, 2 or 3. */
static void unfilter(int filter, const uint8_t *stored, const uint8_t *above, uint8_t *line,
                     int64_t bytes, int size) {
    if (filter == NONE) memcpy(line, stored, (size_t)bytes);
    if (filter == UP) {
        for (int64_t at = 0; at < bytes; at++) line[at] = (uint8_t)(stored[at] + above[at]);
    }
    if (size == 1) of_size(filter, stored, above, line, bytes, 1);
    if (size == 2) of_size(filter, stored, above, line, bytes, 2);
    if (size == 3) of_size(filter, stored, above, line, bytes, 3);
}

/* An image: pixels of a row, rows, bits of a sample, samples of a pixel; bytes of a stored row
   without its filter, of a pixel in the filters' eyes, and of a value. */
typedef struct {
    int64_t width, height, depth, channels, bytes;
    int size, value;
} Layout;

/* Whether there can be such an image among those that are read here. */
static bool laid_out(const int64_t *size, Layout *layout) {
    int64_t width = size[0], height = size[1], depth = size[2], channels = size[3];
    if (width < 1 || height < 1 || width > LONGEST_SIDE || height > LONGEST_SIDE) return false;
    bool gray = channels == 1 &&
                (depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16);
    if (!gray && !(channels == 3 && depth == 8)) return false;
    *layout = (Layout){width, height, depth, channels, (width * depth * channels + 7) / 8, 1, 1};
    if (depth == 16) layout->size = layout->value = 2;
    if (channels == 3) {
        layout->size = 3;
        layout->value = 4;
    }
    return true;
}

/* The values of one row, in the order of bytes of this machine. */
static void put_values(const Layout *layout, const uint8_t *line, uint8_t *values) {
    for (int64_t x = 0; x < layout->width; x++) {
        if (layout->channels == 3) {
            const uint8_t *parts = line + 3 * x;
            uint32_t value = parts[0] | (uint32_t)parts[1] << 8 | (uint32_t)parts[2] << 16;
            memcpy(values + 4 * x, &value, sizeof value);
        } else if (layout->depth == 16) {
            uint16_t value = (uint16_t)(line[2 * x] << 8 | line[2 * x + 1]);
            memcpy(values + 2 * x, &value, sizeof value);
        } else {
            int depth = (int)layout->depth;
            int64_t bit = x * depth;
            int shift = 8 - depth - (int)(bit & 7);
            values[x] = (uint8_t)(line[bit >> 3] >> shift & ((1 << depth) - 1));
        }
    }
}

/* Fill the values of all pixels; false where a row has a filter that there is not. `lines` has room
   for three rows, all zeros. */
static bool put_pixels(const Layout *layout, const uint8_t *rows, uint8_t *lines, uint8_t *pixels) {
    bool plain = layout->depth == 8 && layout->channels == 1;
    const uint8_t *above = lines;
    for (int64_t y = 0; y < layout->height; y++) {
        const uint8_t *stored = rows + y * (layout->bytes + 1);
        uint8_t *values = pixels + y * layout->width * layout->value;
        uint8_t *line = plain ? values : lines + (1 + (y & 1)) * layout->bytes;
        if (stored[0] > PAETH) return false;
        unfilter(stored[0], stored + 1, above, line, layout->bytes, layout->size);
        if (!plain) put_values(layout, line, values);
        above = line;
    }
    return true;
}

/* png_pixels(rows, layout, pixels): whether each row has a filter that there is.

   rows: uint8, of each row its filter and its bytes. layout: (4,) int64 width, height, bits of a
   sample, and samples of a pixel: 1 of 1, 2, 4, 8 or 16 bits, or 3 of 8. pixels: bytes of (height,
   width) uint8, of uint16 for 16 bits, of uint32 for 3 samples (the first one lowest), filled. */
FUNCTION(valor_png_pixels) {
    (void)self;
    static const Wanted wanted[] = {
        {"rows", BYTES, false}, {"layout", INTS, false}, {"pixels", BYTES, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 3)) return NULL;
    Layout layout;
    PyObject *answer = NULL;
    uint8_t *lines = NULL;
    bool sound = items(&columns, 1) == 4 && laid_out(columns.views[1].buf, &layout) &&
                 items(&columns, 0) == layout.height * (layout.bytes + 1) &&
                 items(&columns, 2) == layout.height * layout.width * layout.value;
    if (!sound) {
        refused("rows of an image of one sample a pixel or of three, and as many pixels");
    } else if (!(lines = calloc(3, (size_t)layout.bytes))) {
        PyErr_NoMemory();
    } else {
        bool known;
        Py_BEGIN_ALLOW_THREADS;
        known = put_pixels(&layout, columns.views[0].buf, lines, columns.views[2].buf);
        Py_END_ALLOW_THREADS;
        answer = PyBool_FromLong(known);
    }
    free(lines);
    close_columns(&columns);
    return answer;
}
