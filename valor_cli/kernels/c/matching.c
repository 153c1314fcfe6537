/* Greedy matching, as pycocotools' COCOeval.evaluateImg: all area ranges and thresholds in one pass. */

#include "kernel.h"

/* Area ranges x thresholds that are decided together: a bit each of one word. Bit a * thresholds + t
   stands for area a and threshold t. */
#define WORD 64

/* One call's columns; see below. */
typedef struct {
    const int64_t *start, *ground_truth, *turns;
    const double *iou, *floors;
    const uint8_t *regular, *crowd;
    uint8_t *code;
    int64_t *taken;
    const int64_t *remember;
    int64_t candidates, truths, areas, thresholds, remembered;
} Play;

/* What is decided together, and its memory. */
typedef struct {
    int64_t begin, count;      /* of the thresholds */
    uint64_t *counts, *taken;  /* (truths,) where a ground truth counts; where it is taken */
    int64_t *choices;          /* room for the pairs of one candidate */
} Part;

/* Pairs of a candidate, best first: highest IoU, of equal ones the later ground truth. */
static void by_preference(const Play *play, int64_t *choices, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int64_t pair = first + i, at = i;
        /* Pairs come by ground truth, so an equal one goes ahead of those before it. */
        while (at > 0 && play->iou[choices[at - 1]] <= play->iou[pair]) {
            choices[at] = choices[at - 1];
            at--;
        }
        choices[at] = pair;
    }
}

/* The bits of the thresholds that an IoU reaches, in every area range. */
static uint64_t reached(const Play *play, const Part *part, double iou) {
    uint64_t bits = 0;
    for (int64_t t = 0; t < part->count; t++)
        bits |= (uint64_t)(iou >= play->floors[part->begin + t]) << t;
    uint64_t all = 0;
    for (int64_t area = 0; area < play->areas; area++) all |= bits << (area * part->count);
    return all;
}

static void write_codes(const Play *play, const Part *part, int64_t candidate, uint64_t bits,
                        uint8_t code) {
    for (int64_t area = 0; bits && area < play->areas; area++)
        for (int64_t t = 0; t < part->count; t++)
            if (bits >> (area * part->count + t) & 1)
                play->code[(area * play->thresholds + part->begin + t) * play->candidates +
                           candidate] = code;
}

static void remember(const Play *play, const Part *part, int64_t candidate, int64_t truth,
                     uint64_t bits) {
    for (int64_t at = 0; bits && at < play->remembered; at++) {
        int64_t t = play->remember[at] - part->begin;
        if (t < 0 || t >= part->count) continue;
        for (int64_t area = 0; area < play->areas; area++)
            if (bits >> (area * part->count + t) & 1)
                play->taken[(area * play->remembered + at) * play->candidates + candidate] = truth;
    }
}

/* A candidate takes the best free ground truth that counts, else the best free one that does not. */
static void play_one(const Play *play, const Part *part, int64_t candidate) {
    int64_t first = play->start[candidate], count = play->start[candidate + 1] - first;
    by_preference(play, part->choices, first, count);
    uint64_t matched = 0, ignored = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t truth = play->ground_truth[part->choices[i]];
        uint64_t hit = reached(play, part, play->iou[part->choices[i]]) & part->counts[truth] &
                       ~part->taken[truth] & ~matched;
        matched |= hit;
        part->taken[truth] |= hit;
        remember(play, part, candidate, truth, hit);
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t truth = play->ground_truth[part->choices[i]];
        /* A crowd region is free however often it was taken. */
        uint64_t barred = play->crowd[truth] ? 0 : part->taken[truth];
        uint64_t hit = reached(play, part, play->iou[part->choices[i]]) & ~part->counts[truth] &
                       ~barred & ~(matched | ignored);
        ignored |= hit;
        part->taken[truth] |= hit;
    }
    write_codes(play, part, candidate, matched, MATCHED);
    write_codes(play, part, candidate, ignored, IGNORED);
}

static void play_part(const Play *play, const Part *part) {
    uint64_t all = part->count == WORD ? ~(uint64_t)0 : ((uint64_t)1 << part->count) - 1;
    memset(part->counts, 0, (size_t)play->truths * sizeof(uint64_t));
    memset(part->taken, 0, (size_t)play->truths * sizeof(uint64_t));
    for (int64_t area = 0; area < play->areas; area++)
        for (int64_t truth = 0; truth < play->truths; truth++)
            if (play->regular[area * play->truths + truth])
                part->counts[truth] |= all << (area * part->count);
    for (int64_t i = 0; i < play->candidates; i++) play_one(play, part, play->turns[i]);
}

/* The longest list of pairs of a candidate; -1 if a number leads outside its column. */
static int64_t longest(const Play *play, int64_t pairs) {
    int64_t most = 0;
    if (play->start[0] != 0 || play->start[play->candidates] != pairs) return -1;
    for (int64_t i = 0; i < play->candidates; i++) {
        int64_t count = play->start[i + 1] - play->start[i];
        if (count < 0 || play->start[i] < 0 || play->turns[i] < 0 ||
            play->turns[i] >= play->candidates)
            return -1;
        if (count > most) most = count;
    }
    for (int64_t pair = 0; pair < pairs; pair++)
        if (play->ground_truth[pair] < 0 || play->ground_truth[pair] >= play->truths) return -1;
    return most;
}

/* match(start, ground_truth, iou, turns, regular, crowd, floors, remember, code, taken): what becomes
   of detections that overlap anything.

   start: (c + 1,) int64, where the pairs of each begin; a pair has its ground_truth, int64, and its
   iou, float64, in the order of ground truths. turns: (c,) int64, the order in which detections come.
   regular: (areas, m) bool, whether a ground truth counts in an area range. crowd: (m,) bool. floors:
   (t,) float64, the least IoU of each threshold. remember: (r,) int64, positions of thresholds. code:
   (areas, t, c) uint8, zeros, filled with 1 for matched and 2 for ignored. taken: (areas, r, c) int64,
   filled with the ground truth that was matched there. */
FUNCTION(valor_match) {
    (void)self;
    static const Wanted wanted[] = {
        {"start", INTS, false},    {"ground_truth", INTS, false}, {"iou", FLOATS, false},
        {"turns", INTS, false},    {"regular", BYTES, false},     {"crowd", BYTES, false},
        {"floors", FLOATS, false}, {"remember", INTS, false},     {"code", BYTES, true},
        {"taken", INTS, true},
    };
    Columns columns;
    if (!open_columns(&columns, args, given, wanted, 10)) return NULL;
    Play play = {
        .start = columns.views[0].buf,
        .ground_truth = columns.views[1].buf,
        .iou = columns.views[2].buf,
        .turns = columns.views[3].buf,
        .regular = columns.views[4].buf,
        .crowd = columns.views[5].buf,
        .floors = columns.views[6].buf,
        .remember = columns.views[7].buf,
        .code = columns.views[8].buf,
        .taken = columns.views[9].buf,
        .candidates = items(&columns, 3),
        .truths = items(&columns, 5),
        .thresholds = items(&columns, 6),
        .remembered = items(&columns, 7),
    };
    int64_t pairs = items(&columns, 1), most = -1;
    play.areas = play.truths ? items(&columns, 4) / play.truths : 0;
    Part part = {0};
    PyObject *done = NULL;
    if (items(&columns, 0) == play.candidates + 1 && items(&columns, 2) == pairs &&
        items(&columns, 4) == play.areas * play.truths && play.areas <= WORD &&
        items(&columns, 8) == play.areas * play.thresholds * play.candidates &&
        items(&columns, 9) == play.areas * play.remembered * play.candidates)
        most = longest(&play, pairs);
    if (most < 0) {
        refused("columns of other lengths, or numbers that lead outside them");
        goto end;
    }
    part.counts = malloc(((size_t)play.truths + 1) * sizeof(uint64_t));
    part.taken = malloc(((size_t)play.truths + 1) * sizeof(uint64_t));
    part.choices = malloc(((size_t)most + 1) * sizeof(int64_t));
    if (!part.counts || !part.taken || !part.choices) {
        PyErr_NoMemory();
        goto end;
    }
    if (play.areas) {
        Py_BEGIN_ALLOW_THREADS;
        int64_t step = WORD / play.areas;
        for (part.begin = 0; part.begin < play.thresholds; part.begin += step) {
            int64_t rest = play.thresholds - part.begin;
            part.count = rest < step ? rest : step;
            play_part(&play, &part);
        }
        Py_END_ALLOW_THREADS;
    }
    done = Py_NewRef(Py_None);
end:
    free(part.counts);
    free(part.taken);
    free(part.choices);
    close_columns(&columns);
    return done;
}
