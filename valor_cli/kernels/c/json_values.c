/* Numbers, strings and values of JSON. Every double is the one nearest to its decimal, as Python's. */

#include "json_values.h"

#include <math.h>

/* A number as it is written: digits * 10^exponent. */
typedef struct {
    uint64_t digits; /* right as long as they are MOST_DIGITS from the first that is not 0 */
    int64_t count;   /* leading zeros among them */
    int64_t exponent;
    bool negative;
} Decimal;

#define MOST_DIGITS 19 /* that fit uint64_t */

static inline bool is_digit(const Text *text) {
    return text->at < text->end && (unsigned char)(*text->at - '0') < 10;
}

/* Up to eight digits at once, where the first of them is the lowest byte of a word: where a number
   ends is no branch that the processor has to guess. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BY_WORDS 1

static const uint64_t zeros = 0x3030303030303030;

/* How many of the eight letters, from the first on, are digits. */
static inline int leading_digits(uint64_t letters) {
    /* The lowest byte that is no digit has its highest bit set; bytes above it may be wrong. */
    uint64_t others = ((letters + 0x4646464646464646) | (letters - zeros)) & 0x8080808080808080;
    return others ? __builtin_ctzll(others) / 8 : 8;
}

/* Neighbours are joined to numbers of two digits, these to four, and these to eight. */
static inline uint64_t number_of(uint64_t letters) {
    letters -= zeros;
    letters = letters * 10 + (letters >> 8);
    uint64_t outer = (letters & 0x000000FF000000FF) * 0x000F424000000064;
    uint64_t inner = (letters >> 16 & 0x000000FF000000FF) * 0x0000271000000001;
    return (outer + inner) >> 32;
}

static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* The digits in front of the next eight letters, added to those before; how many, 8 if there may be
   more. */
static inline int some_digits(const char *at, uint64_t *digits) {
    uint64_t letters;
    memcpy(&letters, at, sizeof letters);
    int count = leading_digits(letters);
    if (count == 0) return 0;
    /* Moved to the end, behind zeros. */
    if (count < 8) letters = letters << 8 * (8 - count) | zeros >> 8 * count;
    *digits = *digits * tens[count] + number_of(letters);
    return count;
}

#else
#define BY_WORDS 0

static inline int some_digits(const char *at, uint64_t *digits) {
    (void)at, (void)digits;
    return 0;
}

#endif

/* Digits from here on, added to those before; how many. */
static inline int64_t more_digits(Text *text, Decimal *number) {
    const char *start = text->at;
    uint64_t digits = number->digits;
    int count = 8;
    while (BY_WORDS && count == 8 && text->end - text->at >= 8) {
        count = some_digits(text->at, &digits);
        text->at += count;
    }
    if (count == 8 || !BY_WORDS)
        while (is_digit(text)) digits = digits * 10 + (uint64_t)(*text->at++ - '0');
    number->digits = digits;
    number->count += text->at - start;
    return text->at - start;
}

/* Digits from the first on that is not 0, where these are more than fit. */
static int64_t significant(const char *start, const char *end, int64_t count) {
    for (; start < end && (*start == '-' || *start == '0' || *start == '.'); start++)
        count -= *start == '0';
    return count;
}

/* A number by the grammar of JSON. */
static inline bool read_decimal(Text *text, Decimal *number) {
    *number = (Decimal){0};
    if (text->at < text->end && *text->at == '-') {
        number->negative = true;
        text->at++;
    }
    bool zero = text->at < text->end && *text->at == '0';
    int64_t before = more_digits(text, number);
    if (before == 0 || (zero && before > 1)) return false;
    if (text->at < text->end && *text->at == '.') {
        text->at++;
        int64_t behind = more_digits(text, number);
        if (behind == 0) return false;
        number->exponent = -behind;
    }
    if (text->at < text->end && (*text->at == 'e' || *text->at == 'E')) {
        text->at++;
        bool down = text->at < text->end && *text->at == '-';
        if (text->at < text->end && (*text->at == '-' || *text->at == '+')) text->at++;
        const char *start = text->at;
        int64_t power = 0;
        while (is_digit(text) && text->at - start < 5) power = power * 10 + (*text->at++ - '0');
        /* Five digits are beyond any double, and say no more than four. */
        if (text->at == start || is_digit(text)) return false;
        number->exponent += down ? -power : power;
    }
    return true;
}

#define EXACT ((uint64_t)1 << 53) /* up to here every whole number is a double */

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__

#define FIVES 28 /* 5^27 is the last that fits uint64_t */

static const uint64_t powers_of_five[FIVES] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* digits / 10^down, rounded once: by long division in whole numbers, whose remainder says on which
   side of the middle between two doubles the quotient is. digits > 0, down < FIVES. */
static double divided(uint64_t digits, int down) {
    /* With both shifted to their highest bit, the quotient has its own at 2^63. */
    int left = __builtin_clzll(digits), right = __builtin_clzll(powers_of_five[down]);
    uint64_t dividend = digits << left, divisor = powers_of_five[down] << right;
    int behind = dividend < divisor ? 64 : 63;
    unsigned __int128 wide = (unsigned __int128)dividend << behind;
    uint64_t quotient = (uint64_t)(wide / divisor);
    bool rest = quotient * divisor != (uint64_t)wide;
    /* 53 of 64 bits stay. */
    uint64_t kept = quotient >> 11, cut = quotient & 0x7FF;
    if (cut > 0x400 || (cut == 0x400 && (rest || (kept & 1)))) kept++;
    /* kept * 2^power; both are doubles, and so is their product. */
    int power = right - left - down - behind + 11;
    uint64_t bits = (uint64_t)(power + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)kept * scale;
}

#endif

/* The same number read by Python, which can read any. */
static bool read_by_python(Text *text, const char *start, double *value) {
    char copy[1024];
    size_t length = (size_t)(text->at - start);
    if (length >= sizeof copy) return false;
    memcpy(copy, start, length);
    copy[length] = 0;
    PyEval_RestoreThread(text->thread);
    *value = PyOS_string_to_double(copy, NULL, NULL);
    bool read = !PyErr_Occurred();
    PyErr_Clear();
    text->thread = PyEval_SaveThread();
    return read && isfinite(*value);
}

/* The double nearest to digits * 10^exponent, if a few operations find it. */
static inline bool nearest(uint64_t digits, int64_t exponent, double *size) {
    if (digits == 0) {
        *size = 0.0;
    } else if (exponent == 0) {
        *size = (double)digits;
    } else if (digits <= EXACT && exponent < 0 && exponent >= -22) {
        /* One operation on two doubles that are exact rounds once. */
        *size = (double)digits / powers_of_ten[-exponent];
    } else if (digits <= EXACT && exponent > 0 && exponent <= 22) {
        *size = (double)digits * powers_of_ten[exponent];
#ifdef __SIZEOF_INT128__
    } else if (exponent < 0 && exponent > -FIVES) {
        *size = divided(digits, (int)-exponent);
#endif
    } else {
        return false;
    }
    return true;
}

/* What most numbers are: up to seven digits, a point, and up to fifteen more. False: it is another
   one, and nothing was read. */
static inline bool read_usual(Text *text, double *value) {
    enum { LONGEST = 1 + 8 + 1 + 16 };
    if (!BY_WORDS || text->end - text->at < LONGEST) return false;
    const char *at = text->at;
    bool negative = *at == '-';
    at += negative;
    uint64_t digits = 0;
    int before = some_digits(at, &digits);
    if (before == 0 || before == 8 || (*at == '0' && before > 1) || at[before] != '.') return false;
    at += before + 1;
    int behind = some_digits(at, &digits);
    int more = behind == 8 ? some_digits(at + 8, &digits) : 0;
    behind += more;
    at += behind;
    /* What ends here is not the last of these digits. */
    if (behind == 0 || more == 8 || before + behind > MOST_DIGITS || *at == 'e' || *at == 'E')
        return false;
    double size;
    if (!nearest(digits, -behind, &size)) return false;
    *value = negative ? -size : size;
    text->at = at;
    return true;
}

bool read_double(Text *text, double *value) {
    if (read_usual(text, value)) return true;
    const char *start = text->at;
    Decimal number;
    if (!read_decimal(text, &number)) return false;
    double size;
    if ((number.count > MOST_DIGITS &&
         significant(start, text->at, number.count) > MOST_DIGITS) ||
        !nearest(number.digits, number.exponent, &size))
        return read_by_python(text, start, value);
    /* A whole number has no -0. */
    bool whole_zero = number.digits == 0 && text->at - start == 2;
    *value = number.negative && !whole_zero ? -size : size;
    return true;
}

bool read_whole(Text *text, int64_t *value) {
    bool negative = text->at < text->end && *text->at == '-';
    text->at += negative;
    const char *start = text->at;
    int64_t digits = 0;
    while (is_digit(text) && text->at - start < 16) digits = digits * 10 + (*text->at++ - '0');
    int64_t count = text->at - start;
    if (count == 0 || count > 15 || (*start == '0' && count > 1)) return false;
    if (text->at < text->end && (*text->at == '.' || *text->at == 'e' || *text->at == 'E')) return false;
    /* -0 is a float to those who know one. */
    if (negative && digits == 0) return false;
    *value = negative ? -digits : digits;
    return true;
}

bool read_plain_string(Text *text, const char **start, size_t *length) {
    if (!read_letter(text, '"')) return false;
    *start = text->at;
    while (text->at < text->end && *text->at != '"') {
        if ((unsigned char)*text->at < 0x20 || *text->at == '\\') return false;
        text->at++;
    }
    if (text->at == text->end) return false;
    *length = (size_t)(text->at - *start);
    text->at++;
    return true;
}

/* A string that nobody looks at. Escapes of code points are left to those who check them. */
static bool skip_string(Text *text) {
    text->at++;
    while (text->at < text->end && *text->at != '"') {
        if ((unsigned char)*text->at < 0x20) return false;
        if (*text->at == '\\') {
            text->at++;
            if (text->at == text->end || !*text->at || !strchr("\"\\/bfnrt", *text->at)) return false;
        }
        text->at++;
    }
    if (text->at == text->end) return false;
    text->at++;
    return true;
}

static bool skip_word(Text *text, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length)) return false;
    text->at += length;
    return true;
}

/* What stands between brackets: values, or keys and values. */
static bool skip_inside(Text *text, char close, int depth) {
    text->at++;
    if (next_letter(text) == close) {
        text->at++;
        return true;
    }
    do {
        if (close == '}' &&
            (next_letter(text) != '"' || !skip_string(text) || !read_letter(text, ':')))
            return false;
        if (!skip_value(text, depth - 1)) return false;
    } while (read_letter(text, ','));
    return read_letter(text, close);
}

bool skip_value(Text *text, int depth) {
    Decimal number;
    switch (next_letter(text)) {
    case '"':
        return skip_string(text);
    case '[':
        return depth > 0 && skip_inside(text, ']', depth);
    case '{':
        return depth > 0 && skip_inside(text, '}', depth);
    case 't':
        return skip_word(text, "true");
    case 'f':
        return skip_word(text, "false");
    case 'n':
        return skip_word(text, "null");
    default:
        /* A number beyond all doubles is one that others may refuse. */
        return read_decimal(text, &number) && number.count < 300 && number.exponent > -300 &&
               number.exponent < 290 && number.count + number.exponent < 300;
    }
}
