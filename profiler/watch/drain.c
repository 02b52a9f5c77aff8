/* SPDX-License-Identifier: Apache-2.0 */

/* Proportional attribution (Witch; PieProf §4.2): the CPU time of a Python line gathers until one of its watches
 * reaches stage 3; that watch then stands for all of it, whatever becomes of it. So it does not matter that only some
 * samples begin a watch, and which: reservoir, budget and refusals change how many watches share a line's time, not
 * whose time it is. Loads and stores are two questions about the same time; each gathers on its own.
 *
 * A trap's record says what the handler saw. Here the instruction behind it is looked up: a reference count, or a
 * load's watch that a store touched, is no second access. */

#include "profiler/watch/drain.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/hash.h"
#include "profiler/base/home.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/decode.h"
#include "profiler/code/modules.h"
#include "profiler/govern/need.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/evidence.h"
#include "profiler/watch/rows.h"
#include "profiler/watch/seen.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Calls of element accesses take up to this, whole-array work more. What is left of a call at a random moment is evenly
 * spread over its length, so a long call falls into the first bin as often as into the second, which is taken off. */
static const uint64_t SHORT_CALL_NS = 15000;

enum { RETURNED_BYTES_MIN = 64 };

/* A watch in stage 3. */
struct open_watch {
    bool is_open;
    uint32_t serial;
    struct pie_cct_id cct_node; /* where the time passed that it stands for */
    uint64_t cost_ns;
    struct pie_watch_row row; /* without an outcome */
    uint64_t place, value; /* of a call: what returned, and where; of a store: the value that was equal, 0 */
    uint64_t variety;      /* of the value (struct pie_value) */
    bool has_arguments;    /* the arguments were read in full, or are known to be the same */
};

struct thread_watches {
    struct open_watch open[PIE_DEBUG_REGISTERS];
};

/* CPU time of a Python line that no watch stands for yet. */
struct line_time {
    uint64_t pending_ns[PIE_WATCH_STORE + 1]; /* by kind */
};

struct pie_watch_drain {
    const struct pie_pystack_ops *ops;
    struct pie_naming *naming;
    double fp_tolerance;
    uint64_t code_since_ns;      /* the last time that libraries were unloaded or changed */
    uint64_t rewritten_since_ns; /* … that their code was changed */
    uint32_t rewrites;
    struct pie_watch_rows rows;
    struct pie_watch_seen seen; /* what calls returned, by the place that made them */
    struct pie_watch_evidence evidence;
    struct thread_watches *threads;
    size_t n_threads;
    struct pie_u64map line_of_node; /* stored node of a Python line -> index in lines, plus 1 */
    struct line_time *lines;
    size_t n_lines, lines_room;
    struct pie_need need;           /* of watches, by line of own code whatever leads there */
    struct pie_u64map line_of_unit; /* code unit of such a line -> its number, plus 1 */
    uint64_t learned_ns, learn_most_ns;
};

int pie_watch_drain_create(const struct pie_pystack_ops *ops, struct pie_naming *naming, double fp_tolerance,
                           struct pie_watch_drain **ret_drain) {
    struct pie_watch_drain *drain = pie_calloc(1, sizeof *drain);

    if (!drain)
        return -ENOMEM;
    drain->ops = ops;
    drain->naming = naming;
    drain->fp_tolerance = fp_tolerance;
    drain->rewrites = pie_code_modules_rewrites();
    drain->learn_most_ns = UINT64_MAX;
    *ret_drain = drain;
    return 0;
}

void pie_watch_drain_destroy(struct pie_watch_drain *drain) {
    if (!drain)
        return;
    pie_watch_rows_clear(&drain->rows);
    pie_free(drain->rows.rows);
    pie_watch_seen_finish(&drain->seen);
    pie_watch_evidence_finish(&drain->evidence);
    pie_free(drain->threads);
    pie_u64map_finish(&drain->line_of_node);
    pie_free(drain->lines);
    pie_need_finish(&drain->need);
    pie_u64map_finish(&drain->line_of_unit);
    pie_free(drain);
}

void pie_watch_drain_forget_code(struct pie_watch_drain *drain) {
    drain->code_since_ns = pie_monotonic_ns();
    if (drain->rewrites != pie_code_modules_rewrites()) {
        drain->rewrites = pie_code_modules_rewrites();
        drain->rewritten_since_ns = drain->code_since_ns;
    }
}

/* --- The time that watches stand for --- */

static struct line_time *line_of(struct pie_watch_drain *drain, struct pie_cct_id cct_node) {
    struct pie_cct_id python = pie_watch_line_node(cct_node);
    struct pie_node_id node = {0};

    if (!pie_cct_is_root(python))
        node = pie_naming_node(drain->naming, python);
    uint32_t index = node.value ? pie_u64map_get(&drain->line_of_node, node.value) : 0;
    if (!node.value || index)
        return index ? &drain->lines[index - 1] : NULL;
    struct line_time *list = pie_list_grown(drain->lines, drain->n_lines, &drain->lines_room, sizeof *list);
    if (!list)
        return NULL;
    drain->lines = list;
    if (pie_u64map_put(&drain->line_of_node, node.value, (uint32_t)drain->n_lines + 1) < 0)
        return NULL;
    drain->lines[drain->n_lines] = (struct line_time){0};
    return &drain->lines[drain->n_lines++];
}

/* --- Where the next watches go --- */

/* A line of own code, and where handlers look for its need. 0: none. */
static uint64_t own_line(struct pie_watch_drain *drain, struct pie_cct_id own) {
    uint64_t unit = pie_cct_key(own);

    if (pie_cct_is_root(own))
        return 0;
    uint32_t line = pie_u64map_get(&drain->line_of_unit, unit);
    if (!line) {
        line = (uint32_t)drain->ops->line(pie_cct_key_code(unit), pie_cct_key_offset(unit)) + 1;
        (void)pie_u64map_put(&drain->line_of_unit, unit, line); /* without room it is looked for again */
    }
    return (uint64_t)pie_cct_key_code(unit) << 32 | line;
}

/* Nearly all watches go to the line that needs them most, until others need them as much: hence the cube. */
static void tell_need(struct pie_watch_drain *drain, struct pie_cct_id own, uint64_t line) {
    double need = line ? pie_need_of(&drain->need, line) : 0;

    if (line)
        pie_watch_set_interest(own, need * need * need);
}

void pie_watch_drain_sample(struct pie_watch_drain *drain, struct pie_cct_id cct_node, uint64_t cpu_ns) {
    struct line_time *time = line_of(drain, cct_node);
    struct pie_cct_id own = pie_watch_own_line(drain->ops, cct_node); /* known by now, since it was named */
    uint64_t line = own_line(drain, own);

    if (line)
        pie_need_spent(&drain->need, line, cpu_ns);
    tell_need(drain, own, line);
    if (!time)
        return;
    time->pending_ns[PIE_WATCH_LOAD] += cpu_ns;
    time->pending_ns[PIE_WATCH_STORE] += cpu_ns;
}

/* cct_node: where the time passed that the watch stands for. */
static void note_need(struct pie_watch_drain *drain, struct pie_cct_id cct_node,
                      enum pie_watch_outcome outcome, uint64_t cost_ns) {
    struct pie_cct_id own = pie_watch_own_line(drain->ops, cct_node);
    uint64_t line = own_line(drain, own);
    bool says_nothing = outcome == PIE_WATCH_LOST || outcome == PIE_WATCH_EVICTED;

    if (!line)
        return;
    pie_need_looked(&drain->need, line,
                    says_nothing                     ? PIE_NEED_NONE
                    : outcome == PIE_WATCH_REDUNDANT ? PIE_NEED_EQUAL
                                                     : PIE_NEED_OTHER,
                    cost_ns);
    tell_need(drain, own, line);
}

/* Where the time passed that a watch stands for. */
static struct pie_cct_id time_node(const struct pie_watch_record *reached) {
    return reached->traits & PIE_WATCH_OUTER_CALL ? reached->second_node : reached->first_node;
}

static double take_time(struct pie_watch_drain *drain, const struct pie_watch_record *record) {
    struct line_time *line = line_of(drain, time_node(record));
    double ns = line ? (double)line->pending_ns[record->kind] : 0;

    if (line)
        line->pending_ns[record->kind] = 0;
    return ns;
}

/* --- Rows --- */

static bool is_of_calls(uint8_t memory) {
    return memory == PIE_WATCH_MEMORY_RETURNED || memory == PIE_WATCH_MEMORY_CALL;
}

static void note_operations(struct pie_watch_drain *drain, struct pie_cct_id cct_node,
                            struct pie_watch_row *row) {
    while (!pie_cct_is_root(cct_node) && row->operations_count < PIE_WATCH_FRAMES_MAX) {
        uint64_t key = pie_cct_key(cct_node);
        if (pie_cct_key_is_python(key))
            row->operations[row->operations_count++] =
                (uint8_t)(drain->ops->operation(pie_cct_key_code(key), pie_cct_key_offset(key)) &
                          ~(PIE_OPERATION_IN_FOLD | PIE_OPERATION_IN_FILL));
        cct_node = pie_cct_parent(cct_node);
    }
}

/* A value was equal. Is that a coincidence? Not if the arguments were too, nor if it is a value of many words. A result
 * that most calls of the place return says nothing at all. */
static enum pie_watch_outcome weigh(struct pie_watch_drain *drain, struct open_watch *open) {
    bool is_call = is_of_calls(open->row.memory);

    if (is_call && (open->has_arguments || pie_watch_is_varied(open->variety)))
        return PIE_WATCH_REDUNDANT;
    uint64_t place = is_call ? open->place : pie_cct_key(pie_watch_line_node(open->cct_node));
    switch (
        pie_watch_evidence_of(&drain->evidence, pie_hash_mix(place, is_call), open->value, open->variety)) {
    case PIE_WATCH_EVIDENCE_COMMON:
        return PIE_WATCH_LOST;
    case PIE_WATCH_EVIDENCE_NEW:
        open->row.traits |= PIE_WATCH_NEW_VALUE;
        break;
    default:
        open->row.traits |= PIE_WATCH_WEAK;
    }
    return PIE_WATCH_REDUNDANT;
}

static void finish(struct pie_watch_drain *drain, struct open_watch *open, enum pie_watch_outcome outcome,
                   uint64_t gap_ns) {
    open->is_open = false;
    /* Whatever the next calls returned, if they were waited for: to count the others would favour what is the same. */
    if (outcome == PIE_WATCH_CHANGED && open->row.traits & PIE_WATCH_SEEN_BEFORE) {
        outcome = PIE_WATCH_REDUNDANT;
        open->row.traits &= (uint16_t)~PIE_WATCH_PARTLY;
    }
    if (open->row.traits & PIE_WATCH_SEEN_BEFORE)
        open->row.traits &= (uint16_t)~PIE_WATCH_OTHER_ARGUMENTS;
    bool is_other = open->row.traits & PIE_WATCH_OTHER_ARGUMENTS;
    if (outcome == PIE_WATCH_REDUNDANT && open->row.kind == PIE_WATCH_STORE && !is_other)
        outcome = weigh(drain, open);
    if (outcome == PIE_WATCH_LOST)
        open->row.second_node = (struct pie_node_id){0};
    note_need(drain, open->cct_node, is_other ? PIE_WATCH_CHANGED : outcome, open->cost_ns);
    open->row.outcome = (uint8_t)outcome;
    open->row.gap_ns = gap_ns;
    if (open->row.first_node.value && pie_watch_rows_add(&drain->rows, &open->row) < 0)
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
}

/* Did the place get this before? A number may come again by chance, a whole array hardly, and by the same arguments
 * neither does. */
static void note_seen(struct pie_watch_drain *drain, struct open_watch *open,
                      const struct pie_watch_record *record) {
    uint64_t value = record->value_before;

    if (!is_of_calls(record->memory) || (!record->arguments && record->access_bytes < RETURNED_BYTES_MIN))
        return;
    if (record->arguments)
        value = pie_hash_mix(value, record->arguments);
    uint64_t key = record->traits & PIE_WATCH_OUTER_CALL ? record->value_after : value;
    open->row.traits |= pie_watch_seen_again(&drain->seen, record->address, key, value)
                            ? PIE_WATCH_SEEN_BEFORE
                            : PIE_WATCH_FIRST_SEEN;
}

static void note_value(struct pie_watch_drain *drain, struct open_watch *open,
                       const struct pie_watch_record *record) {
    if (!is_of_calls(record->memory))
        return;
    open->place = record->address;
    open->value = record->value_before;
    open->variety = record->variety;
    open->has_arguments = record->has_arguments;
    if (record->memory == PIE_WATCH_MEMORY_RETURNED)
        pie_watch_evidence_returned(&drain->evidence, pie_hash_mix(open->place, true), open->value);
}

/* What a[i] returned was fetched and not computed, so nobody asks whether it came again (x_watch in watches.sql). */
static void note_item(struct pie_watch_drain *drain, const struct pie_watch_row *row,
                      const struct pie_watch_record *record) {
    unsigned operation = row->operations[0] & PIE_OPERATION_MASK;
    bool is_item = operation == PIE_OPERATION_SUBSCRIPT || operation == PIE_OPERATION_STORE_SUBSCRIPT ||
                   operation == PIE_OPERATION_ITERATE;

    if (is_item && is_of_calls(record->memory) && !(record->traits & PIE_WATCH_OUTER_CALL))
        pie_watch_set_item(pie_cct_key(pie_watch_line_node(record->first_node)));
}

static void reached(struct pie_watch_drain *drain, struct open_watch *open,
                    const struct pie_watch_record *record) {
    double weight_ns = take_time(drain, record);

    if (open->is_open) /* its end did not fit into the ring */
        finish(drain, open, PIE_WATCH_LOST, 0);
    *open = (struct open_watch){
        .is_open = true,
        .serial = record->serial,
        .cct_node = time_node(record),
        .row =
            {
                .kind = record->kind,
                .memory = record->memory,
                .traits = record->traits,
                .length = record->length_ns <= SHORT_CALL_NS       ? 0
                          : record->length_ns <= 2 * SHORT_CALL_NS ? 1
                                                                   : 2,
                .first_node = pie_naming_node(drain->naming, record->first_node),
                .watches = 1,
                .bytes = record->access_bytes,
                .array_bytes = record->array_bytes,
                .weight_ns = weight_ns,
                .weight_sq_ns2 = weight_ns * weight_ns,
                .length_ns = record->length_ns,
            },
    };
    note_operations(drain, record->first_node, &open->row);
    note_item(drain, &open->row, record);
    note_seen(drain, open, record);
    note_value(drain, open, record);
}

/* --- What a trap was --- */

static bool is_near(double a, double b, double tolerance) {
    return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

/* Integers seen as floats are tiny or not finite, and so never near each other by this rule unless they are equal. */
static bool is_sane(double x) {
    return x == 0 || (isfinite(x) && fabs(x) > 1e-30 && fabs(x) < 1e30);
}

static bool is_close(const struct pie_watch_record *record, double tolerance) {
    double doubles[2];
    float floats[2];

    if (record->size == 8) {
        memcpy(&doubles[0], &record->value_before, 8);
        memcpy(&doubles[1], &record->value_after, 8);
    } else if (record->size == 4) {
        memcpy(&floats[0], &record->value_before, 4);
        memcpy(&floats[1], &record->value_after, 4);
        doubles[0] = (double)floats[0];
        doubles[1] = (double)floats[1];
    } else {
        return false;
    }
    return is_sane(doubles[0]) && is_sane(doubles[1]) && is_near(doubles[0], doubles[1], tolerance);
}

static enum pie_watch_outcome compared(const struct pie_watch_drain *drain,
                                       const struct pie_watch_record *record) {
    if (record->outcome == PIE_WATCH_CHANGED && drain->fp_tolerance > 0 &&
        is_close(record, drain->fp_tolerance))
        return PIE_WATCH_REDUNDANT;
    return (enum pie_watch_outcome)record->outcome;
}

/* Zeros, or one byte or, in the longest words, one pattern of four bytes all over. */
static bool is_filling(uint64_t value, uint64_t size) {
    uint64_t bits = 8 * size, low = size == 8 ? (uint32_t)value : (uint8_t)value;
    uint64_t step = size == 8 ? 32 : 8, pattern = 0;

    for (uint64_t at = 0; at < bits; at += step)
        pattern |= low << at;
    return value == pattern && (size > 1 || value == 0);
}

/* Is the code that trapped still where it was? Of a library without a number nobody knows, once any was unloaded. */
static bool is_there(const struct pie_watch_drain *drain, const struct pie_watch_record *record) {
    if (pie_home_contains((uintptr_t)record->rip))
        return true;
    uint64_t since_ns = record->module ? drain->rewritten_since_ns : drain->code_since_ns;
    return record->time_ns >= since_ns && pie_code_module_at((uintptr_t)record->rip) == record->module;
}

static enum pie_watch_outcome outcome_of(struct pie_watch_drain *drain,
                                         const struct pie_watch_record *record) {
    struct pie_access access;

    if (!record->rip)
        return (enum pie_watch_outcome)record->outcome;
    int r = -ENOENT;
    if (is_there(drain, record))
        r = pie_decode_trap(record->rip, record->registers, record->address, record->size, &access);
    if (r < 0 || !is_there(drain, record)) { /* or it went meanwhile */
        pie_counter_add(PIE_COUNTER_WATCH_TRAP_UNKNOWN, 1);
        return PIE_WATCH_LOST;
    }
    enum pie_watch_outcome outcome = compared(drain, record);
    bool is_load = access.flags & PIE_ACCESS_LOAD;
    if (access.flags & PIE_ACCESS_COUNTING)
        return PIE_WATCH_LOST;
    if (record->kind == PIE_WATCH_LOAD && !is_load && outcome == PIE_WATCH_REDUNDANT)
        return PIE_WATCH_LOST; /* a store of the same value: the next load is not seen */
    if (pie_naming_is_allocator(drain->naming, record->second_node))
        return PIE_WATCH_RELEASED;
    if (record->kind == PIE_WATCH_STORE && outcome == PIE_WATCH_REDUNDANT &&
        is_filling(record->value_before, record->size) && is_filling(record->value_after, record->size))
        return PIE_WATCH_LOST; /* memory is cleared, a picture made white, before their use: that says nothing */
    return outcome;
}

static void ended(struct pie_watch_drain *drain, struct open_watch *open,
                  const struct pie_watch_record *record) {
    if (!open->is_open || open->serial != record->serial)
        return; /* its beginning did not fit into the ring */
    enum pie_watch_outcome outcome = outcome_of(drain, record);
    open->cost_ns = record->cost_us * UINT64_C(1000);
    open->row.round_ns = record->round_ns;
    open->row.traits |= record->traits & (PIE_WATCH_PARTLY | PIE_WATCH_OTHER_ARGUMENTS);
    if (!(record->traits & PIE_WATCH_ARGUMENTS))
        open->row.traits &= (uint16_t)~PIE_WATCH_ARGUMENTS;
    if (!is_of_calls(record->memory)) {
        open->value = record->value_before;
        open->variety = pie_watch_variety_of(open->value);
    }
    open->has_arguments =
        record->has_arguments || (open->has_arguments && open->row.traits & PIE_WATCH_SEEN_BEFORE);
    if (record->second_node.value && (outcome == PIE_WATCH_REDUNDANT || outcome == PIE_WATCH_CHANGED))
        open->row.second_node = pie_naming_node(drain->naming, record->second_node);
    finish(drain, open, outcome, record->gap_ns);
}

/* --- Threads --- */

static struct thread_watches *watches_of(struct pie_watch_drain *drain, size_t slot) {
    if (slot >= drain->n_threads) {
        size_t n = slot + 16;
        struct thread_watches *grown = pie_realloc(drain->threads, n * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + drain->n_threads, 0, (n - drain->n_threads) * sizeof *grown);
        drain->threads = grown;
        drain->n_threads = n;
    }
    return &drain->threads[slot];
}

void pie_watch_drain_learn_within(struct pie_watch_drain *drain, uint64_t most_ns) {
    drain->learn_most_ns = most_ns;
}

/* Some functions take milliseconds, the interpreter's loop above all. What was taken beyond that is earned first. */
static void learn(struct pie_watch_drain *drain, struct pie_thread *thread) {
    uint64_t ip;

    while (drain->learned_ns <= drain->learn_most_ns &&
           pie_watch_requests_pop(&pie_watch_of(thread)->requests, &ip)) {
        uint64_t before_ns = pie_thread_cpu_ns();
        pie_basic_block_learn(ip);
        drain->learned_ns += pie_thread_cpu_ns() - before_ns;
    }
}

void pie_watch_drain_thread(struct pie_watch_drain *drain, struct pie_thread *thread, size_t slot) {
    struct thread_watches *watches = watches_of(drain, slot);
    struct pie_watch_record record;

    learn(drain, thread);
    while (watches && pie_watch_ring_pop(&pie_watch_of(thread)->ring, &record)) {
        struct open_watch *open = &watches->open[record.slot % PIE_DEBUG_REGISTERS];
        if (record.record == PIE_WATCH_RECORD_REACHED)
            reached(drain, open, &record);
        else
            ended(drain, open, &record);
    }
}

void pie_watch_drain_thread_ended(struct pie_watch_drain *drain, size_t slot) {
    struct thread_watches *watches = watches_of(drain, slot);

    for (int i = 0; watches && i < PIE_DEBUG_REGISTERS; i++)
        if (watches->open[i].is_open)
            finish(drain, &watches->open[i], PIE_WATCH_UNTOUCHED, 0);
}

/* --- Turns of the tree --- */

static struct open_watch *open_at(const struct pie_watch_drain *drain, size_t i) {
    return &drain->threads[i / PIE_DEBUG_REGISTERS].open[i % PIE_DEBUG_REGISTERS];
}

void pie_watch_drain_move(struct pie_watch_drain *drain, pie_moved_fn moved, void *data) {
    for (size_t i = 0; i < drain->n_threads * PIE_DEBUG_REGISTERS; i++)
        if (open_at(drain, i)->is_open)
            open_at(drain, i)->cct_node = moved(data, open_at(drain, i)->cct_node);
}

bool pie_watch_drain_holds(const struct pie_watch_drain *drain, struct pie_node_id node) {
    for (size_t i = 0; i < drain->n_threads * PIE_DEBUG_REGISTERS; i++)
        if (open_at(drain, i)->is_open && open_at(drain, i)->row.first_node.value == node.value)
            return true;
    return false;
}

struct kept_lines {
    struct pie_watch_drain *drain;
    struct line_time *lines;
    size_t count;
};

static uint32_t keep_line(void *data, uint64_t node, uint32_t index) {
    struct kept_lines *kept = data;

    if (!pie_naming_keeps_node(kept->drain->naming, (struct pie_node_id){(uint32_t)node}))
        return 0;
    kept->lines[kept->count++] = kept->drain->lines[index - 1];
    return (uint32_t)kept->count;
}

void pie_watch_drain_forget(struct pie_watch_drain *drain) {
    pie_watch_seen_finish(&drain->seen);
    pie_watch_evidence_finish(&drain->evidence);
    pie_watch_items_forget();
    pie_need_finish(&drain->need); /* code has other numbers from now on */
    pie_u64map_finish(&drain->line_of_unit);
    struct kept_lines kept = {drain, pie_malloc((drain->n_lines + 1) * sizeof *kept.lines), 0};

    if (!kept.lines)
        return;
    pie_u64map_filter(&drain->line_of_node, keep_line, &kept);
    pie_free(drain->lines);
    drain->lines = kept.lines;
    drain->lines_room = drain->n_lines + 1;
    drain->n_lines = kept.count;
}

const struct pie_watch_row *pie_watch_drain_rows(const struct pie_watch_drain *drain, size_t *ret_count) {
    *ret_count = drain->rows.count;
    return drain->rows.rows;
}

void pie_watch_drain_clear(struct pie_watch_drain *drain) {
    pie_watch_rows_clear(&drain->rows);
}
