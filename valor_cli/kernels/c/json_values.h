/* JSON values, read strictly. Whatever is unusual is not read: the reader of valor_cli/data that
   knows all forms, and says what is wrong with them, reads the text then. */

#ifndef VALOR_JSON_VALUES_H
#define VALOR_JSON_VALUES_H

#include "kernel.h"

/* A text and where reading stands. `thread` is what the interpreter was released with: the rarest
   numbers are read by Python. */
typedef struct {
    const char *at;
    const char *end;
    PyThreadState *thread;
} Text;

/* Each of these moves `at` behind what it has read, or returns false. */
bool read_double(Text *text, double *value);
bool read_whole(Text *text, int64_t *value); /* up to 15 digits, without fraction or exponent */
bool skip_value(Text *text, int depth);      /* any value of JSON, `depth` levels deep at most */

/* A string without escapes; `start` and `length` are those of its letters. */
bool read_plain_string(Text *text, const char **start, size_t *length);

#define DEEPEST 16

static inline void skip_white(Text *text) {
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\n' || *text->at == '\r' || *text->at == '\t'))
        text->at++;
}

/* Read one letter, perhaps after white space. */
static inline bool read_letter(Text *text, char letter) {
    if (text->at < text->end && *text->at == letter) {
        text->at++;
        return true;
    }
    skip_white(text);
    if (text->at == text->end || *text->at != letter) return false;
    text->at++;
    return true;
}

/* The next letter behind white space, which is not read; 0 at the end. */
static inline char next_letter(Text *text) {
    skip_white(text);
    return text->at < text->end ? *text->at : 0;
}

#endif
