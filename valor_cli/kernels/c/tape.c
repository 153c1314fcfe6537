/* Rows of text as columns of spans: the cells of CSV, and the values of JSON lines.

   A tape, as in simdjson: every value is a node, in the order of the text, with the span of its
   text. Escapes and doubled quotes are replaced in the text itself, which only becomes shorter, so a
   span is always the decoded value. What is unusual (invalid JSON, half a character, a duplicate
   key, too deep) is not read: data/tape.py leaves that line to Python, which can say what it is. */

#include "json_values.h"

#include <math.h>

#define DEEP 48

enum { NO_VALUE, IS_NULL, IS_FALSE, IS_TRUE, IS_NUMBER, IS_TEXT, IS_LIST, IS_OBJECT };

/* ---- Distinct texts, numbered in the order of their first appearance. ---- */

typedef struct {
    uint32_t *slots; /* code + 1 of a text, 0 where there is none */
    int64_t room;    /* a power of two */
    int64_t count;
} Table;

static bool make_table(Table *table, int64_t room) {
    *table = (Table){calloc((size_t)room, sizeof(uint32_t)), room, 0};
    return table->slots != NULL;
}

/* Up to eight bytes as a word; fewer are read twice rather than one by one. */
static inline uint64_t word_of(const char *at, int64_t length) {
    uint64_t word = 0;
    uint32_t low = 0, high = 0;
    if (length >= 8) {
        memcpy(&word, at, 8);
    } else if (length >= 4) {
        memcpy(&low, at, 4);
        memcpy(&high, at + length - 4, 4);
        word = low | (uint64_t)high << 32;
    } else if (length > 0) {
        word = (uint64_t)(unsigned char)at[0] | (uint64_t)(unsigned char)at[length / 2] << 8 |
               (uint64_t)(unsigned char)at[length - 1] << 16;
    }
    return word;
}

static inline uint64_t hash_of(const char *at, int64_t length) {
    uint64_t hash = (uint64_t)length * 0x9E3779B97F4A7C15u;
    for (; length > 8; at += 8, length -= 8) {
        hash = (hash ^ word_of(at, 8)) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    hash = (hash ^ word_of(at, length)) * 0xD6E8FEB86659FD93u;
    return hash ^ hash >> 32;
}

/* Where texts of codes stand. */
typedef struct {
    const char *text;
    int32_t *start;
    int32_t *end;
} Names;

static bool grow_table(Table *table, const Names *names) {
    Table larger;
    if (!make_table(&larger, table->room * 2)) return false;
    for (int64_t code = 0; code < table->count; code++) {
        const char *at = names->text + names->start[code];
        uint64_t slot = hash_of(at, names->end[code] - names->start[code]);
        while (larger.slots[slot & (uint64_t)(larger.room - 1)]) slot++;
        larger.slots[slot & (uint64_t)(larger.room - 1)] = (uint32_t)code + 1;
    }
    larger.count = table->count;
    free(table->slots);
    *table = larger;
    return true;
}

/* The code of a text; a new one is added to the names, which have room. Below 0: no memory. */
static inline int32_t code_of(Table *table, Names *names, int32_t start, int32_t end) {
    const char *at = names->text + start;
    int32_t length = end - start;
    uint64_t slot = hash_of(at, length);
    for (;; slot++) {
        uint32_t *held = &table->slots[slot & (uint64_t)(table->room - 1)];
        if (!*held) {
            int32_t code = (int32_t)table->count++;
            names->start[code] = start;
            names->end[code] = end;
            *held = (uint32_t)code + 1;
            if (table->count * 2 > table->room && !grow_table(table, names)) return -1;
            return code;
        }
        int32_t code = (int32_t)*held - 1;
        if (names->end[code] - names->start[code] == length &&
            !memcmp(names->text + names->start[code], at, (size_t)length))
            return code;
    }
}

/* ---- JSON lines. ---- */

typedef struct {
    Text text;
    char *begin; /* of the whole text */
    uint8_t *kind;
    int32_t *start, *end, *parent, *key;
    double *number;
    int64_t count, room;
    Names names;
    Table table;
    uint32_t *seen; /* by code of a key, the number of the object that had it last */
    int32_t *next;  /* by code of a key, the one that came after it last; -1 for none */
    int64_t seen_room;
    int32_t last; /* the key before */
    uint32_t objects;
    bool failed; /* no memory */
} Tape;

static inline int hex_digit(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    letter |= 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Four hexadecimal digits; below 0 if they are none. */
static int32_t code_unit(const char *at, const char *end) {
    int32_t unit = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static char *put_character(char *to, int32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

/* A string from behind its first quote, decoded in place. */
static bool read_string(Tape *tape, int32_t *start, int32_t *end) {
    const char *at = tape->text.at, *stop = tape->text.end;
    *start = (int32_t)(at - tape->begin);
    while (at < stop && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20) at++;
    char *to = tape->begin + (at - tape->begin);
    while (at < stop && *at != '"') {
        if ((unsigned char)*at < 0x20) return false;
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        if (++at == stop) return false;
        char letter = *at++;
        switch (letter) {
        case '"': case '\\': case '/': *to++ = letter; break;
        case 'b': *to++ = '\b'; break;
        case 'f': *to++ = '\f'; break;
        case 'n': *to++ = '\n'; break;
        case 'r': *to++ = '\r'; break;
        case 't': *to++ = '\t'; break;
        case 'u': {
            int32_t code = code_unit(at, stop);
            if (code < 0 || (code >= 0xDC00 && code < 0xE000)) return false;
            at += 4;
            if (code >= 0xD800 && code < 0xDC00) {
                if (stop - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
                int32_t low = code_unit(at + 2, stop);
                if (low < 0xDC00 || low >= 0xE000) return false;
                at += 6;
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            }
            to = put_character(to, code);
            break;
        }
        default: return false;
        }
    }
    if (at == stop) return false;
    *end = (int32_t)(to - tape->begin);
    tape->text.at = at + 1;
    return true;
}

static inline int64_t put_node(Tape *tape, int kind, int64_t parent, int32_t key) {
    int64_t node = tape->count++;
    tape->kind[node] = (uint8_t)kind;
    tape->parent[node] = (int32_t)parent;
    tape->key[node] = key;
    tape->start[node] = tape->end[node] = 0;
    tape->number[node] = NAN;
    return node;
}

static bool read_word(Tape *tape, const char *word, size_t length) {
    Text *text = &tape->text;
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length)) return false;
    text->at += length;
    return true;
}

/* Whether a key is the one with that code. */
static inline bool is_key(const Tape *tape, int32_t code, int32_t start, int32_t end) {
    const Names *names = &tape->names;
    int32_t length = end - start;
    if (code < 0 || names->end[code] - names->start[code] != length) return false;
    const char *one = tape->begin + names->start[code], *other = tape->begin + start;
    return length <= 8 ? word_of(one, length) == word_of(other, length)
                       : !memcmp(one, other, (size_t)length);
}

/* Room for one more key. */
static bool widen(Tape *tape) {
    int64_t room = tape->seen_room ? tape->seen_room * 2 : 256;
    uint32_t *seen = realloc(tape->seen, (size_t)room * sizeof *seen);
    if (seen) tape->seen = seen;
    int32_t *next = realloc(tape->next, (size_t)room * sizeof *next);
    if (next) tape->next = next;
    if (!seen || !next) return !(tape->failed = true);
    memset(seen + tape->seen_room, 0, (size_t)(room - tape->seen_room) * sizeof *seen);
    memset(next + tape->seen_room, -1, (size_t)(room - tape->seen_room) * sizeof *next);
    tape->seen_room = room;
    return true;
}

/* The code of the key of an object; false if it has it already. */
static bool read_key(Tape *tape, uint32_t object, int32_t *key) {
    int32_t start, end;
    if (next_letter(&tape->text) != '"') return false;
    tape->text.at++;
    if (!read_string(tape, &start, &end)) return false;
    /* Most rows have their keys in the same order. */
    int32_t likely = tape->last < 0 ? -1 : tape->next[tape->last];
    if (is_key(tape, likely, start, end)) {
        *key = likely;
    } else {
        *key = code_of(&tape->table, &tape->names, start, end);
        if (*key < 0) return !(tape->failed = true);
        if (*key >= tape->seen_room && !widen(tape)) return false;
        if (tape->last >= 0) tape->next[tape->last] = *key;
    }
    tape->last = *key;
    if (tape->seen[*key] == object) return false;
    tape->seen[*key] = object;
    return read_letter(&tape->text, ':');
}

static bool read_node(Tape *tape, int64_t parent, int32_t key, int depth) {
    Text *text = &tape->text;
    char letter = next_letter(text);
    if (tape->count >= tape->room) return false;
    if (letter == '"') {
        int64_t node = put_node(tape, IS_TEXT, parent, key);
        text->at++;
        return read_string(tape, &tape->start[node], &tape->end[node]);
    }
    if (letter == '{' || letter == '[') {
        if (depth == 0) return false;
        bool object = letter == '{';
        char close = object ? '}' : ']';
        int64_t node = put_node(tape, object ? IS_OBJECT : IS_LIST, parent, key);
        uint32_t number = ++tape->objects;
        text->at++;
        if (next_letter(text) == close) {
            text->at++;
            return true;
        }
        do {
            int32_t inner = -1;
            if (object && !read_key(tape, number, &inner)) return false;
            if (!read_node(tape, node, inner, depth - 1)) return false;
        } while (read_letter(text, ','));
        return read_letter(text, close);
    }
    if (letter == 'n') {
        put_node(tape, IS_NULL, parent, key);
        return read_word(tape, "null", 4);
    }
    if (letter == 't' || letter == 'f') {
        int64_t node = put_node(tape, letter == 't' ? IS_TRUE : IS_FALSE, parent, key);
        tape->start[node] = (int32_t)(text->at - tape->begin);
        if (!read_word(tape, letter == 't' ? "true" : "false", letter == 't' ? 4 : 5)) return false;
        tape->end[node] = (int32_t)(text->at - tape->begin);
        return true;
    }
    int64_t node = put_node(tape, IS_NUMBER, parent, key);
    const char *start = text->at;
    double value;
    if (!read_double(text, &value)) return false;
    if (value == 0.0 && *start == '-') value = -0.0;
    tape->start[node] = (int32_t)(start - tape->begin);
    tape->end[node] = (int32_t)(text->at - tape->begin);
    tape->number[node] = value;
    return true;
}

static bool is_blank(const char *at, const char *end) {
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) at++;
    return at == end;
}

/* All lines, of which there are `lines`; returns how many have something on them. */
static int64_t read_lines(Tape *tape, int64_t length, int32_t *line, int32_t *begin, int32_t *stop,
                          int32_t *root, int64_t *lines) {
    const char *at = tape->begin, *end = at + length;
    int64_t rows = 0;
    int32_t number = 0;
    for (; at < end && !tape->failed; number++) {
        const char *over = memchr(at, '\n', (size_t)(end - at));
        if (!over) over = end;
        if (!is_blank(at, over)) {
            int64_t before = tape->count;
            tape->text.at = at;
            tape->text.end = over;
            bool read = read_node(tape, -1, -1, DEEP);
            if (read) {
                skip_white(&tape->text);
                read = tape->text.at == over;
            }
            if (!read) tape->count = before;
            line[rows] = number;
            begin[rows] = (int32_t)(at - tape->begin);
            stop[rows] = (int32_t)(over - tape->begin);
            root[rows++] = read ? (int32_t)before : -1;
        }
        at = over + 1;
    }
    *lines = number;
    return rows;
}

static bool are_narrow(const Columns *columns, int from, int to) {
    for (int at = from; at < to; at++)
        if (!is_narrow(columns, at)) return false;
    return true;
}

static bool have_room(const Columns *columns, int from, int to, int64_t room) {
    for (int at = from; at < to; at++)
        if (items(columns, at) < room) return false;
    return true;
}

/* json_tape(text, kind, start, end, parent, key, number, line, begin, stop, root, key_start,
   key_end): (nodes, rows, keys, lines).

   text: n bytes of whole lines, decoded in place. By node (room for n / 2 + 2): its kind; start, end
   of its text; parent, -1 for a line; the code of its key, -1 for none; its number. By line with
   something on it (n / 2 + 2): its number from 0; begin, stop of its bytes; its node, -1 where it is
   left to Python. By key (n / 4 + 2): where its text is. All int32 but text, kind and number. */
FUNCTION(valor_json_tape) {
    (void)self;
    static const Wanted wanted[] = {
        {"text", BYTES, true},   {"kind", BYTES, true},       {"start", COUNTS, true},
        {"end", COUNTS, true},   {"parent", COUNTS, true},    {"key", COUNTS, true},
        {"number", FLOATS, true}, {"line", COUNTS, true},     {"begin", COUNTS, true},
        {"stop", COUNTS, true},  {"root", COUNTS, true},      {"key_start", COUNTS, true},
        {"key_end", COUNTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 13)) return NULL;
    int64_t n = items(&columns, 0), rows = 0, lines = 0;
    bool sound = n < INT32_MAX / 2 && are_narrow(&columns, 2, 6) && are_narrow(&columns, 7, 13) &&
                 have_room(&columns, 1, 11, n / 2 + 2) && have_room(&columns, 11, 13, n / 4 + 2);
    PyObject *answer = NULL;
    if (!sound) {
        refused("text of less than 1 GiB, and columns of int32 with room for it");
    } else {
        Py_buffer *views = columns.views;
        Tape tape = {.begin = views[0].buf, .kind = views[1].buf, .start = views[2].buf,
                     .end = views[3].buf, .parent = views[4].buf, .key = views[5].buf,
                     .number = views[6].buf, .room = n / 2 + 2,
                     .names = {views[0].buf, views[11].buf, views[12].buf},
                     .last = -1};
        tape.failed = !make_table(&tape.table, 256) || !widen(&tape);
        tape.text.thread = PyEval_SaveThread();
        if (!tape.failed)
            rows = read_lines(&tape, n, views[7].buf, views[8].buf, views[9].buf, views[10].buf,
                              &lines);
        PyEval_RestoreThread(tape.text.thread);
        answer = tape.failed ? PyErr_NoMemory()
                             : Py_BuildValue("LLLL", (long long)tape.count, (long long)rows,
                                             (long long)tape.table.count, (long long)lines);
        free(tape.table.slots);
        free(tape.seen);
        free(tape.next);
    }
    close_columns(&columns);
    return answer;
}

/* held(key, parent, row, code, node): the values under a key.

   key, parent: (m,) int32 by node. row: (m + 1,) int32, the row whose value a node is, -1 for none.
   node: (n,) int64 by row; that of the value under the key with that code is written. */
FUNCTION(valor_held) {
    (void)self;
    static const Wanted wanted[] = {{"key", COUNTS, false}, {"parent", COUNTS, false},
                                    {"row", COUNTS, false}, {"node", INTS, true}};
    Columns columns;
    if (given != 5) return refused("five arguments");
    long code = PyLong_AsLong(args[4]);
    if (PyErr_Occurred() || !open_columns(&columns, args, given, wanted, 4)) return NULL;
    Py_buffer *views = columns.views;
    int64_t m = items(&columns, 0), n = items(&columns, 3), rows = items(&columns, 2);
    const int32_t *key = views[0].buf, *parent = views[1].buf, *row = views[2].buf;
    int64_t *node = views[3].buf;
    bool sound = items(&columns, 1) == m && are_narrow(&columns, 0, 3);
    for (int64_t i = 0; sound && i < m; i++) {
        if (key[i] != code || parent[i] < 0) continue;
        sound = parent[i] < rows;
        int32_t own = sound ? row[parent[i]] : -1;
        sound &= own < n;
        if (sound && own >= 0) node[own] = i;
    }
    close_columns(&columns);
    if (!sound) return refused("nodes with a parent among them, and rows");
    Py_RETURN_NONE;
}

/* inside(parent, row, child, owner): the values that rows hold.

   parent: (m,) int32 by node. row: (m + 1,) int32, the row whose value a node is, -1 for none. child,
   owner: (m,) int64; the nodes whose parent is such a value, in their order, and its row. Returns how
   many, below 0 if the owners are not in order. */
FUNCTION(valor_inside) {
    (void)self;
    static const Wanted wanted[] = {{"parent", COUNTS, false}, {"row", COUNTS, false},
                                    {"child", INTS, true}, {"owner", INTS, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    Py_buffer *views = columns.views;
    int64_t m = items(&columns, 0), rows = items(&columns, 1), count = 0;
    const int32_t *parent = views[0].buf, *row = views[1].buf;
    int64_t *child = views[2].buf, *owner = views[3].buf;
    bool sound = are_narrow(&columns, 0, 2) && have_room(&columns, 2, 4, m), ordered = true;
    int32_t last = -1;
    for (int64_t i = 0; sound && i < m; i++) {
        if (parent[i] < 0) continue;
        sound = parent[i] < rows;
        int32_t own = sound ? row[parent[i]] : -1;
        if (own < 0) continue;
        ordered &= own >= last;
        last = own;
        child[count] = i;
        owner[count++] = own;
    }
    close_columns(&columns);
    if (!sound) return refused("nodes with a parent among them, and rows");
    return PyLong_FromLongLong(ordered ? count : -1 - count);
}

/* ---- CSV. ---- */

typedef struct {
    char *begin, *stop;
    char delimiter;
    bool spaced;
    int64_t width;
    int32_t *start, *end; /* of the cells of rows that have `width` of them */
    int32_t lines;        /* ends of lines so far */
    bool quotes;          /* whether there are any */
    bool across;          /* a row goes on behind a line end, or a quote is no part of a quoted cell */
} Sheet;

enum { ROW_READ, ROW_OPEN, ROW_BROKEN };

/* Behind a line end, which is counted. */
static inline char *behind_line(Sheet *sheet, char *at) {
    sheet->lines++;
    return at + 1 < sheet->stop && at[0] == '\r' && at[1] == '\n' ? at + 2 : at + 1;
}

/* The cells of a row, and what follows it. A quoted cell is decoded in place. */
static int read_row(Sheet *sheet, char **from, int64_t cells, int64_t *fields) {
    char *at = *from, *stop = sheet->stop, delimiter = sheet->delimiter;
    int64_t count = 0;
    for (;;) {
        while (sheet->spaced && at < stop && *at == ' ') at++;
        char *start = at, *end;
        if (at < stop && *at == '"') {
            char *to = start = ++at;
            for (;;) {
                while (at < stop && *at != '"' && *at != '\n' && *at != '\r') *to++ = *at++;
                if (at == stop) return ROW_OPEN;
                if (*at != '"') {
                    char *over = behind_line(sheet, at);
                    sheet->across = true;
                    while (at < over) *to++ = *at++;
                } else if (at + 1 < stop && at[1] == '"') {
                    *to++ = '"';
                    at += 2;
                } else {
                    at++;
                    break;
                }
            }
            end = to;
            if (at < stop && *at != delimiter && *at != '\n' && *at != '\r') return ROW_BROKEN;
        } else {
            while (at < stop && *at != delimiter && *at != '\n' && *at != '\r') at++;
            end = at;
            if (sheet->quotes && memchr(start, '"', (size_t)(end - start))) sheet->across = true;
        }
        if (count < sheet->width) {
            sheet->start[cells + count] = (int32_t)(start - sheet->begin);
            sheet->end[cells + count] = (int32_t)(end - sheet->begin);
        }
        count++;
        if (at < stop && *at == delimiter) {
            at++;
            continue;
        }
        *fields = count;
        *from = at < stop ? behind_line(sheet, at) : at;
        return ROW_READ;
    }
}

/* csv_tape(text, start, end, line, fields, delimiter, spaced, width): (rows, consumed, lines, state,
   across).

   text: n bytes, decoded in place. start, end: (n + width + 1,) int32 for the cells of rows that have
   `width` of them, row after row. line, fields: (n / 2 + 2,) int32, by row that is not empty, the
   line it begins on, from 0, and how many cells it has. What is not consumed is a row whose quoted
   cell is not closed (state 1) or followed by something else than a delimiter (2); `lines` of line
   ends are before it. across: whether a row goes on behind a line end, or a quote is no part of a
   quoted cell. */
FUNCTION(valor_csv_tape) {
    (void)self;
    static const Wanted wanted[] = {{"text", BYTES, true},
                                    {"start", COUNTS, true},
                                    {"end", COUNTS, true},
                                    {"line", COUNTS, true},
                                    {"fields", COUNTS, true}};
    Columns columns;
    if (given != 8) return refused("eight arguments");
    long delimiter = PyLong_AsLong(args[5]), spaced = PyLong_AsLong(args[6]);
    long width = PyLong_AsLong(args[7]);
    if (PyErr_Occurred() || !open_columns(&columns, args, given, wanted, 5)) return NULL;
    Py_buffer *views = columns.views;
    int64_t n = items(&columns, 0), rows = 0, good = 0;
    bool sound = n < INT32_MAX / 2 && width > 0 && width < INT32_MAX / 2 && are_narrow(&columns, 1, 5) &&
                 have_room(&columns, 1, 3, n + width + 1) && have_room(&columns, 3, 5, n / 2 + 2);
    if (!sound) {
        close_columns(&columns);
        return refused("text of less than 1 GiB, and columns of int32 with room for it");
    }
    Sheet sheet = {views[0].buf, (char *)views[0].buf + n, (char)delimiter, spaced != 0, width,
                   views[1].buf, views[2].buf, 0, memchr(views[0].buf, '"', (size_t)n) != NULL,
                   false};
    int32_t *line = views[3].buf, *fields = views[4].buf;
    char *at = sheet.begin;
    int state = ROW_READ;
    int32_t lines = 0;
    Py_BEGIN_ALLOW_THREADS;
    while (at < sheet.stop) {
        lines = sheet.lines;
        if (*at == '\n' || *at == '\r') {
            at = behind_line(&sheet, at);
            lines = sheet.lines;
            continue;
        }
        int64_t count;
        state = read_row(&sheet, &at, good, &count);
        if (state != ROW_READ) break;
        line[rows] = lines;
        fields[rows++] = (int32_t)(count < INT32_MAX ? count : INT32_MAX);
        if (count == width) good += width;
        lines = sheet.lines;
    }
    Py_END_ALLOW_THREADS;
    PyObject *answer = Py_BuildValue("LLlii", (long long)rows, (long long)(at - sheet.begin),
                                     (long)lines, state, (int)sheet.across);
    close_columns(&columns);
    return answer;
}

/* ---- Spans. ---- */

static bool are_spans(const Columns *columns, int64_t n) {
    const int32_t *start = columns->views[1].buf, *end = columns->views[2].buf;
    int64_t length = items(columns, 0);
    bool sound = items(columns, 1) == n && items(columns, 2) == n && are_narrow(columns, 1, 3);
    for (int64_t i = 0; sound && i < n; i++)
        sound = start[i] >= 0 && start[i] <= end[i] && end[i] <= length;
    return sound;
}

/* Whether a letter may go on a number. */
static inline bool goes_on(char letter) {
    return (letter >= '0' && letter <= '9') || letter == '.' || letter == 'e' || letter == 'E';
}

/* decimals(text, start, end, value, read): the numbers in spans (int32), and which are finite ones of
   the usual form: an optional sign, and a number as JSON has it, with blanks around it. */
FUNCTION(valor_decimals) {
    (void)self;
    static const Wanted wanted[] = {{"text", BYTES, false},
                                    {"start", COUNTS, false},
                                    {"end", COUNTS, false},
                                    {"value", FLOATS, true},
                                    {"read", BYTES, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 5)) return NULL;
    Py_buffer *views = columns.views;
    int64_t n = items(&columns, 3);
    if (!are_spans(&columns, n) || items(&columns, 4) != n) {
        close_columns(&columns);
        return refused("spans of the text, and columns of their length");
    }
    const char *begin = views[0].buf, *limit = begin + items(&columns, 0);
    const int32_t *start = views[1].buf, *end = views[2].buf;
    double *value = views[3].buf;
    uint8_t *read = views[4].buf;
    Text text;
    text.thread = PyEval_SaveThread();
    for (int64_t i = 0; i < n; i++) {
        text.at = begin + start[i];
        text.end = begin + end[i];
        while (text.at < text.end && (*text.at == ' ' || *text.at == '\t')) text.at++;
        while (text.at < text.end && (text.end[-1] == ' ' || text.end[-1] == '\t')) text.end--;
        if (text.end - text.at > 1 && *text.at == '+' && text.at[1] != '-') text.at++;
        const char *first = text.at, *stop = text.end;
        /* Digits are read by words, beyond the span: what cannot go on a number ends it there. */
        if (stop < limit && !goes_on(*stop)) text.end = limit;
        read[i] = first < stop && read_double(&text, &value[i]) && text.at == stop;
        if (!read[i]) value[i] = NAN;
        else if (value[i] == 0.0 && *first == '-') value[i] = -0.0;
    }
    PyEval_RestoreThread(text.thread);
    close_columns(&columns);
    Py_RETURN_NONE;
}

/* coded(text, start, end, code, letters, ends, slots, count, from): (count, at).

   Numbers the texts in n spans (int32) from the span `from` on by the names known so far: `count`
   of them, with their letters one behind the other and, in `ends` (int64), where each begins and
   the last one's end. slots: int32, a power of two of them, 0 or the code + 1 of a name, found by
   its hash. New names are added where there is room; `at` is n, or the span that needs more. */
FUNCTION(valor_coded) {
    (void)self;
    static const Wanted wanted[] = {{"text", BYTES, false},  {"start", COUNTS, false},
                                    {"end", COUNTS, false},  {"code", INTS, true},
                                    {"letters", BYTES, true}, {"ends", INTS, true},
                                    {"slots", COUNTS, true}};
    Columns columns;
    if (given != 9) return refused("nine arguments");
    int64_t count = PyLong_AsLongLong(args[7]), i = PyLong_AsLongLong(args[8]);
    if (PyErr_Occurred() || !open_columns(&columns, args, given, wanted, 7)) return NULL;
    Py_buffer *views = columns.views;
    int64_t n = items(&columns, 3), room = items(&columns, 4), most = items(&columns, 5) - 1;
    int64_t slots = items(&columns, 6);
    const int32_t *start = views[1].buf, *end = views[2].buf;
    int64_t *code = views[3].buf, *ends = views[5].buf;
    int32_t *slot = views[6].buf;
    char *letters = views[4].buf;
    bool sound = are_spans(&columns, n) && is_narrow(&columns, 6) && i >= 0 && count >= 0 &&
                 count <= most && slots > 0 && !(slots & (slots - 1)) && count * 2 <= slots &&
                 ends[0] == 0 && ends[count] >= 0 && ends[count] <= room;
    Py_BEGIN_ALLOW_THREADS;
    for (; sound && i < n; i++) {
        const char *at = (const char *)views[0].buf + start[i];
        int64_t length = end[i] - start[i], own, tried = 0;
        uint64_t place = hash_of(at, length) & (uint64_t)(slots - 1);
        /* Names are checked where they are looked at: to check all would take as long as the text. */
        while ((own = (int64_t)slot[place] - 1) != -1) {
            sound = own >= 0 && own < count && tried++ < slots && ends[own] >= 0 &&
                    ends[own] <= ends[own + 1] && ends[own + 1] <= room;
            if (!sound || (ends[own + 1] - ends[own] == length &&
                           !memcmp(letters + ends[own], at, (size_t)length)))
                break;
            place = (place + 1) & (uint64_t)(slots - 1);
        }
        if (sound && own < 0) {
            if (count == most || count * 2 >= slots || ends[count] + length > room) break;
            own = count++;
            memcpy(letters + ends[own], at, (size_t)length);
            ends[count] = ends[own] + length;
            slot[place] = (int32_t)count;
        }
        code[i] = own;
    }
    Py_END_ALLOW_THREADS;
    close_columns(&columns);
    if (!sound) return refused("spans of the text, and names with their slots");
    return Py_BuildValue("LL", (long long)count, (long long)i);
}

/* padded(text, start, end, cells): the texts in n spans (int32) in n cells of equal width, zeros
   behind them. */
FUNCTION(valor_padded) {
    (void)self;
    static const Wanted wanted[] = {{"text", BYTES, false},
                                    {"start", COUNTS, false},
                                    {"end", COUNTS, false},
                                    {"cells", BYTES, true}};
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 4)) return NULL;
    Py_buffer *views = columns.views;
    int64_t n = items(&columns, 1), width = n ? items(&columns, 3) / n : 0;
    if (!are_spans(&columns, n) || items(&columns, 3) != n * width) {
        close_columns(&columns);
        return refused("spans of the text, and a cell of equal width for each");
    }
    const int32_t *start = views[1].buf, *end = views[2].buf;
    char *cell = views[3].buf;
    for (int64_t i = 0; i < n; i++, cell += width) {
        int64_t length = end[i] - start[i] < width ? end[i] - start[i] : width;
        memcpy(cell, (const char *)views[0].buf + start[i], (size_t)length);
        memset(cell + length, 0, (size_t)(width - length));
    }
    close_columns(&columns);
    Py_RETURN_NONE;
}
