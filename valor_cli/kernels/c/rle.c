/* COCO's compressed run lengths, read as pycocotools' maskApi.c writes them (rleToString).

   A string holds one number after the other, five bits a character from the lowest (character code
   minus 48); bit 32 says that more follow, and the highest of the last five bits is the sign. */

#include "kernel.h"

#define ZERO 48
#define MORE 32
#define SIGN 16
/* Bits of a number in the longest that is read, seven characters. */
#define MOST_BITS 35

/* The sides that a valid mask has at most. */
#define LARGEST_SIDE (1 << 20)

/* Pixels of an image of that height and width; -1 where it cannot have them. */
static int64_t pixels_of(const int64_t *size) {
    bool possible = size[0] >= 0 && size[0] <= LARGEST_SIDE && size[1] >= 0 && size[1] <= LARGEST_SIDE;
    return possible ? size[0] * size[1] : -1;
}

/* Read one number, of up to seven characters, and go behind it; false where there is none. */
static inline bool read_number(const uint8_t **letters, const uint8_t *end, int64_t *number) {
    uint8_t code = (uint8_t)(*(*letters)++ - ZERO);
    /* Nine in ten numbers have one character. */
    if (code < MORE) {
        *number = (code ^ SIGN) - SIGN;
        return true;
    }
    int bits = 0;
    int64_t found = 0;
    for (; code >= MORE; code = (uint8_t)(*(*letters)++ - ZERO)) {
        found |= (int64_t)(code & (MORE - 1)) << bits;
        bits += 5;
        if (code >= 2 * MORE || *letters == end || bits == MOST_BITS) return false;
    }
    *number = found | (int64_t)((code ^ SIGN) - SIGN) * ((int64_t)1 << bits);
    return true;
}

/* Read the counts of one mask from `letters` on, up to `end`, into places from `at` on: no more of
   them than characters. Returns how many they are, or -1 where they are no mask of so many pixels. */
static inline int64_t read_counts(const uint8_t *letters, const uint8_t *end, int64_t pixels,
                                  void *counts, bool narrow, int64_t at, int64_t *foreground) {
    int64_t before[2] = {0, 0}, grounds[2] = {0, 0}, left = pixels, count = 0, number;
    for (; letters < end; count++) {
        if (!read_number(&letters, end, &number)) return -1;
        /* From the fourth on, the difference to the count two before; not the third already. */
        if (count > 2) number += before[count & 1];
        /* None is below 0 and all add up, so none is larger than what is left. */
        if (number < 0 || number > left) return -1;
        before[count & 1] = number;
        grounds[count & 1] += number;
        left -= number;
        put_count(counts, narrow, at + count, number);
    }
    *foreground = grounds[1];
    return left ? -1 : count;
}

/* decoded_counts(letters, lengths, sizes, counts, starts, foreground, valid): how many counts are
   filled.

   letters: the characters of n strings. lengths: (n,) int64, how many each has. sizes: (n, 2) int64
   height and width; those of a valid mask have up to 2 ** 20. counts: int32 or int64, room for as
   many as there are characters and strings together; starts: (n + 1,) int64; foreground: (n,) int64;
   valid: (n,) bool. A string that is no mask of its size is one count of background. */
FUNCTION(valor_decoded_counts) {
    (void)self;
    static const Wanted wanted[] = {
        {"letters", BYTES, false}, {"lengths", INTS, false}, {"sizes", INTS, false},
        {"counts", COUNTS, true},  {"starts", INTS, true},   {"foreground", INTS, true},
        {"valid", BYTES, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 7)) return NULL;
    const uint8_t *letters = columns.views[0].buf;
    const int64_t *lengths = columns.views[1].buf, *sizes = columns.views[2].buf;
    void *counts = columns.views[3].buf;
    int64_t *starts = columns.views[4].buf, *foreground = columns.views[5].buf;
    uint8_t *valid = columns.views[6].buf;
    bool narrow = is_narrow(&columns, 3);
    int64_t n = items(&columns, 1), left = items(&columns, 0), done = 0;
    bool sound = items(&columns, 2) == 2 * n && items(&columns, 3) >= left + n &&
                 items(&columns, 4) == n + 1 && items(&columns, 5) == n && items(&columns, 6) == n;
    for (int64_t i = 0; sound && i < n; i++) {
        sound = lengths[i] >= 0 && lengths[i] <= left;
        left -= sound ? lengths[i] : 0;
    }
    /* What has more pixels than a count can say has no room in a narrow column. */
    for (int64_t i = 0; sound && narrow && i < n; i++)
        sound = pixels_of(sizes + 2 * i) <= INT32_MAX;
    if (sound) {
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t i = 0; i < n; i++) {
            int64_t pixels = pixels_of(sizes + 2 * i);
            const uint8_t *end = letters + lengths[i];
            /* Twice, so that the loops need not ask. */
            int64_t count =
                narrow ? read_counts(letters, end, pixels, counts, true, done, &foreground[i])
                       : read_counts(letters, end, pixels, counts, false, done, &foreground[i]);
            starts[i] = done;
            valid[i] = count >= 0;
            if (count < 0) {
                foreground[i] = 0;
                put_count(counts, narrow, done, pixels < 0 ? 0 : pixels);
                count = 1;
            }
            done += count;
            letters = end;
        }
        starts[n] = done;
        Py_END_ALLOW_THREADS;
    }
    close_columns(&columns);
    return sound ? PyLong_FromLongLong(done) : refused("characters, and columns with room for them");
}
