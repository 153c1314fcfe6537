/* Objects of COCO files, straight into columns: {"image_id": 1, "category_id": 2, "bbox": [x, y,
   width, height], "score": 0.5} and what else is in them; in place of the box perhaps
   "segmentation": {"size": [height, width], "counts": "..."}, a mask as compressed run lengths. */

#include "json_values.h"

/* What an object may have, and which bit says so. */
enum {
    IMAGE_ID = 1,
    CATEGORY_ID = 2,
    BBOX = 4,
    SCORE = 8,
    ID = 16,
    AREA = 32,
    ISCROWD = 64,
    SEGMENTATION = 128,
    OTHER_NAME = 256, /* of what is read: the reader that knows all names is asked */
};

typedef struct {
    const char *name;
    size_t length;
    int bit;
} Key;

#define KEY(name, bit) {name, sizeof name - 1, bit}
static const Key keys[] = {
    KEY("image_id", IMAGE_ID), KEY("category_id", CATEGORY_ID), KEY("bbox", BBOX),
    KEY("score", SCORE),       KEY("id", ID),                   KEY("area", AREA),
    KEY("iscrowd", ISCROWD),   KEY("segmentation", SEGMENTATION),
    KEY("crowd", OTHER_NAME),  KEY("is_crowd", OTHER_NAME),
};

typedef struct {
    int64_t *image_id, *category_id, *id;
    double *bbox, *score, *area;
    uint8_t *crowd;
    double largest; /* of a coordinate */
    /* Of masks: height and width, letters one after the other, and how many each has. */
    int64_t *size, *length;
    uint8_t *letters;
    int64_t used, room;   /* of the letters */
    int64_t largest_side;
} Objects;

static int bit_of(const char *name, size_t length) {
    for (size_t at = 0; at < sizeof keys / sizeof *keys; at++)
        if (keys[at].length == length && !memcmp(keys[at].name, name, length)) return keys[at].bit;
    return 0;
}

static bool read_box(Text *text, double *box, double largest) {
    if (!read_letter(text, '[')) return false;
    for (int side = 0; side < 4; side++) {
        if (side && !read_letter(text, ',')) return false;
        skip_white(text);
        if (!read_double(text, &box[side])) return false;
        if (!(box[side] <= largest && box[side] >= (side < 2 ? -largest : 0))) return false;
    }
    return read_letter(text, ']');
}

/* 0, 1, false or true. */
static bool read_crowd(Text *text, uint8_t *crowd) {
    char first = next_letter(text);
    *crowd = first == '1' || first == 't';
    if (first == 't' || first == 'f') return skip_value(text, 0);
    int64_t number;
    return read_whole(text, &number) && (number == 0 || number == 1);
}

/* The letters of compressed run lengths; "\\" is one of them. */
static bool read_letters(Text *text, Objects *objects, int64_t row) {
    int64_t begin = objects->used;
    if (!read_letter(text, '"')) return false;
    for (; text->at < text->end && *text->at != '"'; text->at++) {
        if (*text->at == '\\' && (++text->at == text->end || *text->at != '\\')) return false;
        unsigned char letter = (unsigned char)*text->at;
        if (letter < 0x20 || letter >= 0x80 || objects->used == objects->room) return false;
        objects->letters[objects->used++] = letter;
    }
    objects->length[row] = objects->used - begin;
    return read_letter(text, '"');
}

static bool read_size(Text *text, int64_t *size, int64_t largest) {
    if (!read_letter(text, '[')) return false;
    for (int side = 0; side < 2; side++) {
        if (side && !read_letter(text, ',')) return false;
        skip_white(text);
        if (!read_whole(text, &size[side]) || size[side] < 1 || size[side] > largest) return false;
    }
    return read_letter(text, ']');
}

static bool read_mask(Text *text, Objects *objects, int64_t row) {
    enum { SIZE = 1, COUNTS = 2 };
    int found = 0;
    if (!read_letter(text, '{')) return false;
    do {
        const char *name;
        size_t length;
        skip_white(text);
        if (!read_plain_string(text, &name, &length) || !read_letter(text, ':')) return false;
        int bit = length == 4 && !memcmp(name, "size", 4)     ? SIZE
                  : length == 6 && !memcmp(name, "counts", 6) ? COUNTS
                                                              : 0;
        if (found & bit) return false;
        found |= bit;
        if (bit == SIZE ? !read_size(text, &objects->size[2 * row], objects->largest_side)
            : bit == COUNTS ? !read_letters(text, objects, row)
                            : !skip_value(text, DEEPEST))
            return false;
    } while (read_letter(text, ','));
    return read_letter(text, '}') && found == (SIZE | COUNTS);
}

static bool read_field(Text *text, Objects *objects, int64_t row, int bit) {
    switch (bit) {
    case IMAGE_ID:
        return read_whole(text, &objects->image_id[row]);
    case CATEGORY_ID:
        return read_whole(text, &objects->category_id[row]);
    case BBOX:
        return read_box(text, &objects->bbox[4 * row], objects->largest);
    case SCORE:
        return read_double(text, &objects->score[row]);
    case ID:
        return read_whole(text, &objects->id[row]);
    case AREA:
        return read_double(text, &objects->area[row]) && objects->area[row] >= 0;
    case ISCROWD:
        return read_crowd(text, &objects->crowd[row]);
    case SEGMENTATION:
        return read_mask(text, objects, row);
    case OTHER_NAME:
        return false;
    default:
        return skip_value(text, DEEPEST);
    }
}

/* How the last object was written: what stands before each of its values. Most files write all
   objects alike, so that keys need not be looked at, only compared. */
#define MOST_MEMBERS 16

typedef struct {
    const char *before;
    size_t length;
    int bit;
} Member;

typedef struct {
    Member members[MOST_MEMBERS];
    int count; /* 0: no object was read yet, or the last one has too many members */
    int found; /* bits of what it has */
} Form;

/* Whether `length` letters are the same. */
static inline bool are_same(const char *one, const char *other, size_t length) {
    uint64_t a, b;
    if (length < sizeof a) return !memcmp(one, other, length);
    for (size_t at = 0; at + sizeof a < length; at += sizeof a) {
        memcpy(&a, one + at, sizeof a);
        memcpy(&b, other + at, sizeof b);
        if (a != b) return false;
    }
    memcpy(&a, one + length - sizeof a, sizeof a);
    memcpy(&b, other + length - sizeof b, sizeof b);
    return a == b;
}

/* One object that is written as the last one was; 0: it is not, and nothing was read. */
static int read_alike(Text *text, Objects *objects, int64_t row, const Form *form) {
    const char *start = text->at;
    int64_t used = objects->used;
    for (int at = 0; at < form->count; at++) {
        const Member *member = &form->members[at];
        if ((size_t)(text->end - text->at) < member->length ||
            !are_same(text->at, member->before, member->length))
            goto otherwise;
        text->at += member->length;
        if (!read_field(text, objects, row, member->bit)) goto otherwise;
    }
    if (form->count && read_letter(text, '}')) return form->found;
otherwise:
    text->at = start;
    objects->used = used;
    return 0;
}

/* One object, and how it is written; the bits of what it has. 0: it is unusual, or lacks what is
   needed. */
static int read_object(Text *text, Objects *objects, int64_t row, int looked_at, int needed,
                       Form *form) {
    int found = 0, count = 0;
    const char *before = text->at;
    form->count = 0;
    if (!read_letter(text, '{')) return 0;
    do {
        const char *name;
        size_t length;
        skip_white(text);
        if (!read_plain_string(text, &name, &length) || !read_letter(text, ':')) return 0;
        int bit = bit_of(name, length) & looked_at;
        /* Of a key that stands twice the general reader knows which one counts. */
        if (found & bit) return 0;
        found |= bit;
        skip_white(text);
        if (count < MOST_MEMBERS)
            form->members[count] = (Member){before, (size_t)(text->at - before), bit};
        count++;
        if (!read_field(text, objects, row, bit)) return 0;
        before = text->at;
    } while (read_letter(text, ','));
    if (!read_letter(text, '}') || (found & needed) != needed) return 0;
    form->count = count <= MOST_MEMBERS ? count : 0;
    form->found = found;
    return found;
}

typedef struct {
    int64_t rows; /* -1: something is unusual */
    int every;    /* bits of what all objects have */
    int any;      /* bits of what some have */
} Found;

static const Found unusual = {-1, 0, 0};

/* A list of objects, and white space. */
static Found read_objects(Text *text, Objects *objects, int64_t room, int looked_at,
                          int needed) {
    Found found = {0, ~0, 0};
    Form form = {.count = 0};
    if (!read_letter(text, '[')) return unusual;
    if (next_letter(text) != ']') {
        do {
            if (found.rows == room) return unusual;
            skip_white(text);
            int bits = read_alike(text, objects, found.rows, &form);
            if (!bits) bits = read_object(text, objects, found.rows, looked_at, needed, &form);
            if (!bits) return unusual;
            if (objects->area && !(bits & AREA)) {
                const double *box = &objects->bbox[4 * found.rows];
                objects->area[found.rows] = box[2] * box[3];
            }
            if (objects->crowd && !(bits & ISCROWD)) objects->crowd[found.rows] = 0;
            found.every &= bits;
            found.any |= bits;
            found.rows++;
        } while (read_letter(text, ','));
    }
    if (!read_letter(text, ']')) return unusual;
    skip_white(text);
    return text->at == text->end ? found : unusual;
}

/* Run `read_objects` while Python's other threads work. */
static PyObject *found_objects(const Py_buffer *view, Objects *objects, int64_t room,
                               int looked_at, int needed) {
    Text text = {view->buf, (const char *)view->buf + view->len, NULL};
    text.thread = PyEval_SaveThread();
    Found found = read_objects(&text, objects, room, looked_at, needed);
    PyEval_RestoreThread(text.thread);
    return Py_BuildValue("(Lii)", (long long)found.rows, found.every, found.any);
}

/* detected_boxes(text, image_id, category_id, bbox, score, largest) -> (rows, every, any): a list of
   detections.

   text: bytes of UTF-8. image_id, category_id: (room,) int64, filled. bbox: (room, 4) float64, filled.
   score: (room,) float64, filled. largest: the largest coordinate allowed. rows: how many were read;
   -1 if anything is unusual, or there are more. every, any: bits of what all objects have, and of
   what some have. */
FUNCTION(valor_detected_boxes) {
    (void)self;
    static const Wanted wanted[] = {{"text", BYTES, false},
                                    {"image_id", INTS, true},
                                    {"category_id", INTS, true},
                                    {"bbox", FLOATS, true},
                                    {"score", FLOATS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 5)) return NULL;
    Objects objects = {.image_id = columns.views[1].buf,
                       .category_id = columns.views[2].buf,
                       .bbox = columns.views[3].buf,
                       .score = columns.views[4].buf,
                       .largest = given > 5 ? PyFloat_AsDouble(args[5]) : -1};
    int64_t room = items(&columns, 1);
    PyObject *done = NULL;
    if (PyErr_Occurred()) {
    } else if (items(&columns, 2) != room || items(&columns, 3) != 4 * room ||
               items(&columns, 4) != room) {
        refused("columns of one length, and the largest coordinate");
    } else {
        int needed = IMAGE_ID | CATEGORY_ID | BBOX | SCORE;
        done = found_objects(&columns.views[0], &objects, room, needed, needed);
    }
    close_columns(&columns);
    return done;
}

/* detected_masks(text, image_id, category_id, score, size, letters, length, largest_side) -> (rows,
   every, any): a list of detections that are masks, as in `detected_boxes`.

   size: (room, 2) int64, filled with height and width, 1 to largest_side. letters: (letters,) uint8,
   filled with the compressed run lengths of all masks, one after the other; there is room for all of
   the text. length: (room,) int64, filled with how many letters each has. */
FUNCTION(valor_detected_masks) {
    (void)self;
    static const Wanted wanted[] = {
        {"text", BYTES, false},  {"image_id", INTS, true}, {"category_id", INTS, true},
        {"score", FLOATS, true}, {"size", INTS, true},     {"letters", BYTES, true},
        {"length", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 7)) return NULL;
    Objects objects = {.image_id = columns.views[1].buf,
                       .category_id = columns.views[2].buf,
                       .score = columns.views[3].buf,
                       .size = columns.views[4].buf,
                       .letters = columns.views[5].buf,
                       .length = columns.views[6].buf,
                       .room = items(&columns, 5),
                       .largest_side = given > 7 ? PyLong_AsLongLong(args[7]) : -1};
    int64_t room = items(&columns, 1);
    PyObject *done = NULL;
    if (PyErr_Occurred()) {
    } else if (items(&columns, 2) != room || items(&columns, 3) != room ||
               items(&columns, 4) != 2 * room || items(&columns, 6) != room) {
        refused("columns of one length, and the largest side");
    } else {
        int needed = IMAGE_ID | CATEGORY_ID | SCORE | SEGMENTATION;
        done = found_objects(&columns.views[0], &objects, room, needed, needed);
    }
    close_columns(&columns);
    return done;
}

/* annotated_boxes(text, image_id, category_id, bbox, id, area, crowd, largest) -> (rows, every, any):
   a list of annotations of ground truth, as in `detected_boxes`.

   id: (room,) int64, filled where objects have one (bit 16). area: (room,) float64, filled; width *
   height where an object has none. crowd: (room,) bool, filled; false where an object does not say. */
FUNCTION(valor_annotated_boxes) {
    (void)self;
    static const Wanted wanted[] = {
        {"text", BYTES, false},  {"image_id", INTS, true}, {"category_id", INTS, true},
        {"bbox", FLOATS, true},  {"id", INTS, true},       {"area", FLOATS, true},
        {"crowd", BYTES, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 7)) return NULL;
    Objects objects = {.image_id = columns.views[1].buf,
                       .category_id = columns.views[2].buf,
                       .bbox = columns.views[3].buf,
                       .id = columns.views[4].buf,
                       .area = columns.views[5].buf,
                       .crowd = columns.views[6].buf,
                       .largest = given > 7 ? PyFloat_AsDouble(args[7]) : -1};
    int64_t room = items(&columns, 1);
    bool sound = items(&columns, 3) == 4 * room;
    for (int at = 2; at < 7; at++) sound = sound && (at == 3 || items(&columns, at) == room);
    PyObject *done = NULL;
    if (PyErr_Occurred()) {
    } else if (!sound) {
        refused("columns of one length, and the largest coordinate");
    } else {
        int needed = IMAGE_ID | CATEGORY_ID | BBOX;
        int looked_at = needed | ID | AREA | ISCROWD | OTHER_NAME;
        done = found_objects(&columns.views[0], &objects, room, looked_at, needed);
    }
    close_columns(&columns);
    return done;
}

/* members(text, spans) -> count: where the values of a JSON object stand, if all is usual.

   text: bytes of UTF-8, an object and white space. spans: (most, 4) int64, filled with begin and end
   of the letters of a key, and begin and end of its value. count: -1 if anything is unusual. */
FUNCTION(valor_members) {
    (void)self;
    static const Wanted wanted[] = {{"text", BYTES, false}, {"spans", INTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 2)) return NULL;
    const char *begin = columns.views[0].buf;
    Text text = {begin, begin + columns.views[0].len, NULL};
    int64_t *spans = columns.views[1].buf, most = items(&columns, 1) / 4, count = 0;
    Py_BEGIN_ALLOW_THREADS;
    bool usual = read_letter(&text, '{');
    do {
        const char *name = NULL;
        size_t length = 0;
        skip_white(&text);
        usual = usual && count < most && read_plain_string(&text, &name, &length) &&
                read_letter(&text, ':');
        skip_white(&text);
        const char *value = text.at;
        usual = usual && skip_value(&text, DEEPEST);
        if (!usual) break;
        int64_t *span = &spans[4 * count++];
        span[0] = name - begin;
        span[1] = span[0] + (int64_t)length;
        span[2] = value - begin;
        span[3] = text.at - begin;
    } while (read_letter(&text, ','));
    usual = usual && read_letter(&text, '}');
    skip_white(&text);
    if (!usual || text.at != text.end) count = -1;
    Py_END_ALLOW_THREADS;
    close_columns(&columns);
    return PyLong_FromLongLong(count);
}
