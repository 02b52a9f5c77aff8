/* SPDX-License-Identifier: Apache-2.0 */

/* The instructions of a function, by decoding it from its beginning, where there is an instruction for certain. Data
 * between the code would make what follows wrong, so where a jump leads to no known beginning, the code from there on
 * is swept too; this also finds both beginnings of an instruction whose LOCK prefix is jumped over (glibc does that).
 * Basic blocks begin at the function's entry, at targets of jumps and behind whatever does not simply go on.
 *
 * Where no function is known, nothing says that what lies behind a jump, a return or a call that may not come back is
 * code. Then only what executed instructions lead to is taken: what follows them, and where direct jumps and calls
 * go. */

#include "profiler/code/decode_sweep.h"

#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/code/decode_graph.h"
#include "profiler/code/decode_tables.h"
#include "profiler/code/instruction.h"

#include <errno.h>

enum { NOWHERE = UINT32_MAX };

/* An instruction that does not simply go on (a control transfer); offsets from the function's beginning. */
struct transfer {
    uint32_t at, end, target; /* target NOWHERE: none in this function */
    uint8_t flow;
};

struct sweep {
    struct pie_decode_function *function;
    const uint8_t *code;
    struct transfer *transfers;
    size_t n, capacity;
    uint64_t
        *flowed; /* a bit for each byte: an instruction leads there by simply going on; NULL: all is swept */
    struct pie_decode_tables tables;
};

bool pie_decode_map_get(const struct pie_decode_function *function, enum pie_decode_mark mark,
                        uint32_t offset) {
    return function->maps[(size_t)mark * function->words + offset / 64] >> offset % 64 & 1;
}

void pie_decode_map_set(struct pie_decode_function *function, enum pie_decode_mark mark, uint32_t offset) {
    function->maps[(size_t)mark * function->words + offset / 64] |= UINT64_C(1) << offset % 64;
}

static bool goes_on(uint8_t flow) {
    return flow == PIE_FLOW_NEXT || flow == PIE_FLOW_BRANCH || flow == PIE_FLOW_CALL;
}

/* Does an instruction that follows one of this kind begin for certain, or as good as that? */
static bool is_followed(const struct sweep *s, uint8_t flow) {
    return goes_on(flow) && !(s->flowed && flow == PIE_FLOW_CALL);
}

static void note_flow(struct sweep *s, uint32_t to) {
    if (s->flowed && to < s->function->size)
        s->flowed[to / 64] |= UINT64_C(1) << to % 64;
}

static int add_transfer(struct sweep *s, const struct transfer *transfer) {
    struct transfer *list = pie_list_grown(s->transfers, s->n, &s->capacity, sizeof *list);

    if (!list)
        return -ENOMEM;
    s->transfers = list;
    s->transfers[s->n++] = *transfer;
    return 0;
}

/* An instruction at `at` that does not simply go on: where the blocks begin that follow it. */
static int leave_block(struct sweep *s, uint32_t at, const struct pie_instruction *in) {
    struct pie_decode_function *f = s->function;
    struct transfer transfer = {.at = at, .end = at + in->length, .target = NOWHERE, .flow = in->flow};

    if (in->target - f->begin < f->size) {
        transfer.target = (uint32_t)(in->target - f->begin);
        pie_decode_map_set(f, PIE_DECODE_LEADER, transfer.target);
    }
    if (is_followed(s, in->flow) && transfer.end < f->size)
        pie_decode_map_set(f, PIE_DECODE_LEADER, transfer.end);
    if (in->flow == PIE_FLOW_SWITCH && !s->flowed)
        pie_decode_tables_jump(&s->tables, s->code + at, in->length, at);
    return add_transfer(s, &transfer);
}

/* Goes on until it meets what is known, bytes that do not decode, or the end. */
static int sweep_from(struct sweep *s, uint32_t at) {
    struct pie_decode_function *f = s->function;
    bool is_unreached = false; /* by the instruction before: padding, then what others jump to */
    struct pie_instruction in;

    for (; at < f->size && !pie_decode_map_get(f, PIE_DECODE_START, at); at += in.length) {
        size_t left = f->size - at;
        if (pie_instruction_decode(s->code + at,
                                   left < PIE_INSTRUCTION_BYTES_MAX ? left : PIE_INSTRUCTION_BYTES_MAX,
                                   f->begin + at, &in, NULL) < 0)
            break;
        pie_decode_map_set(f, PIE_DECODE_START, at);
        if (in.may_list)
            pie_decode_map_set(f, PIE_DECODE_LISTED, at);
        if (is_unreached && !in.is_padding) {
            pie_decode_map_set(f, PIE_DECODE_LEADER, at);
            is_unreached = false;
        }
        pie_decode_tables_see(&s->tables, s->code + at, in.length, f->begin + at);
        if (in.flow == PIE_FLOW_NEXT) {
            note_flow(s, at + in.length);
            continue;
        }
        int r = leave_block(s, at, &in);
        if (r < 0 || (s->flowed && !is_followed(s, in.flow)))
            return r;
        if (!goes_on(in.flow))
            is_unreached = true;
    }
    return 0;
}

/* Blocks by number: how many leaders there are before each word of the map. */
struct blocks {
    const struct pie_decode_function *function;
    const uint64_t *leaders;
    uint32_t *before;
    uint32_t n;
};

static int number_blocks(struct blocks *b, const struct pie_decode_function *f) {
    *b = (struct blocks){.function = f, .leaders = f->maps + (size_t)PIE_DECODE_LEADER * f->words};
    b->before = pie_malloc(f->words * sizeof *b->before);
    if (!b->before)
        return -ENOMEM;
    for (uint32_t i = 0; i < f->words; i++) {
        b->before[i] = b->n;
        b->n += (uint32_t)__builtin_popcountll(b->leaders[i]);
    }
    return 0;
}

/* The number of the block around an offset. */
static uint32_t block_of(const struct blocks *b, uint32_t offset) {
    uint64_t upto = b->leaders[offset / 64] & (~UINT64_C(0) >> (63 - offset % 64));

    return b->before[offset / 64] + (uint32_t)__builtin_popcountll(upto) - 1;
}

struct edges {
    struct pie_decode_edge *list;
    size_t n, capacity;
};

static void add_edge(struct edges *edges, uint32_t from, uint32_t to) {
    if (edges->n < edges->capacity)
        edges->list[edges->n++] = (struct pie_decode_edge){from, to};
}

/* Jumps, and the ways on to the next block; `has_transfer`: a bit for each block that one ends. */
static void add_transfers(const struct sweep *s, const struct blocks *b, struct edges *edges,
                          uint64_t *has_transfer) {
    for (size_t i = 0; i < s->n; i++) {
        const struct transfer *transfer = &s->transfers[i];
        uint32_t from = block_of(b, transfer->at);
        has_transfer[from / 64] |= UINT64_C(1) << from % 64;
        if (transfer->target != NOWHERE &&
            (transfer->flow == PIE_FLOW_BRANCH || transfer->flow == PIE_FLOW_JUMP))
            add_edge(edges, from, block_of(b, transfer->target));
        if (is_followed(s, transfer->flow) && transfer->end < s->function->size)
            add_edge(edges, from, block_of(b, transfer->end));
    }
    for (uint32_t i = 0; i + 1 < b->n; i++)
        if (!(has_transfer[i / 64] >> i % 64 & 1))
            add_edge(edges, i, i + 1);
}

/* Entries of one table: leaders at first, edges when the blocks have numbers. */
static void add_table(struct sweep *s, size_t which, const struct blocks *b, struct edges *edges) {
    uint32_t offsets[PIE_DECODE_TABLE_ENTRIES_MAX];
    size_t n = pie_decode_tables_read(&s->tables, which, s->function, offsets);

    for (size_t i = 0; i < n; i++) {
        if (b)
            add_edge(edges, block_of(b, s->tables.found[which].jump), block_of(b, offsets[i]));
        else
            pie_decode_map_set(s->function, PIE_DECODE_LEADER, offsets[i]);
    }
}

static void mark_loops(struct pie_decode_function *f, const uint64_t *in_cycle) {
    const uint64_t *leaders = f->maps + (size_t)PIE_DECODE_LEADER * f->words;
    uint64_t *loops = f->maps + (size_t)PIE_DECODE_LOOP * f->words;
    uint32_t block = 0;

    for (uint32_t i = 0; i < f->words; i++) {
        for (uint64_t left = leaders[i]; left; left &= left - 1, block++)
            if (in_cycle[block / 64] >> block % 64 & 1)
                loops[i] |= left & -left;
    }
}

static int find_loops(struct sweep *s) {
    struct edges edges = {0};
    struct blocks blocks;
    int r = number_blocks(&blocks, s->function);

    if (r < 0)
        return r;
    size_t words = blocks.n / 64 + 1;
    uint64_t *bits = pie_calloc(2 * words, sizeof *bits);
    edges.capacity = 2 * s->n + blocks.n + s->tables.n * PIE_DECODE_TABLE_ENTRIES_MAX;
    edges.list = pie_malloc(edges.capacity * sizeof *edges.list);
    r = -ENOMEM;
    if (bits && edges.list) {
        add_transfers(s, &blocks, &edges, bits + words);
        for (size_t i = 0; i < s->tables.n; i++)
            add_table(s, i, &blocks, &edges);
        r = pie_decode_graph_cycles(blocks.n, edges.list, edges.n, bits);
    }
    if (r == 0)
        mark_loops(s->function, bits);
    pie_free(edges.list);
    pie_free(bits);
    pie_free(blocks.before);
    return r;
}

/* Where direct jumps and calls go to, and where these lead. */
static int sweep_targets(struct sweep *s) {
    int r = 0;

    for (size_t i = 0; i < s->n && r == 0; i++)
        if (s->transfers[i].target != NOWHERE)
            r = sweep_from(s, s->transfers[i].target);
    return r;
}

int pie_decode_sweep(struct pie_decode_function *function, const uint8_t *code) {
    struct sweep *s = pie_calloc(1, sizeof *s);
    int r;

    if (!s)
        return -ENOMEM;
    s->function = function;
    s->code = code;
    pie_decode_map_set(function, PIE_DECODE_LEADER, 0);
    r = sweep_from(s, 0);
    if (r == 0)
        r = sweep_targets(s);
    for (size_t i = 0; i < s->tables.n && r == 0; i++)
        add_table(s, i, NULL, NULL);
    if (r == 0)
        r = find_loops(s);
    pie_free(s->transfers);
    pie_free(s);
    return r;
}

static int follow_all(struct sweep *s, const uint64_t *executed) {
    int r = 0;

    for (uint32_t at = 0; at < s->function->size && r == 0; at++)
        if (executed[at / 64] >> at % 64 & 1)
            r = sweep_from(s, at);
    return r;
}

/* Nobody knows what leads to an instruction that others do not lead to: its block begins there. */
static void mark_beginnings(struct sweep *s) {
    struct pie_decode_function *f = s->function;

    for (uint32_t i = 0; i < f->words; i++)
        f->maps[(size_t)PIE_DECODE_LEADER * f->words + i] |=
            f->maps[(size_t)PIE_DECODE_START * f->words + i] & ~s->flowed[i];
}

int pie_decode_follow(struct pie_decode_function *function, const uint8_t *code, const uint64_t *executed) {
    struct sweep *s = pie_calloc(1, sizeof *s);
    uint64_t *flowed = pie_calloc(function->words, sizeof *flowed);
    int r = -ENOMEM;

    if (s && flowed) {
        *s = (struct sweep){.function = function, .code = code, .flowed = flowed};
        r = follow_all(s, executed);
        if (r == 0)
            r = sweep_targets(s);
        mark_beginnings(s);
        if (r == 0)
            r = find_loops(s);
        pie_free(s->transfers);
    }
    pie_free(flowed);
    pie_free(s);
    return r;
}
