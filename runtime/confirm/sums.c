/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/confirm.h"

#include <stdio.h>
#include <string.h>

#include "profiler/base/clocks.h"
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/ports/windows.h"
#include "runtime/confirm/sites.h"

/* The sums of each callee at each line. A call is computed again where the same arguments gave the same result before;
 * what was seen is kept as two words, of the arguments and of the result. */

enum { ONCE, TWICE, OFTEN, SEEN = 3 }; /* the lowest bits */

enum {
    FIRST_SEEN = 64,
    LONG_NS = 50000, /* what lasts longer is timed by the CPU clock: it may have waited */
    MARK_NS = 20000, /* between two looks at that clock, which costs more than the other */
    ROWS_MAX = PIE_CONFIRM_ROWS_MAX,
    STATUS_BITS = 8,
    NEAR = 8,              /* a container has changed its size by less than such a part */
    IN_TURN = 8,           /* lists that are searched in turn */
    BULK_ELEMENTS = 64,    /* an array of these is no single element */
    ENTRIES_MAX = 1 << 24, /* of 16 bytes, of all tables together */
};

static const uint64_t DIGEST_LIMIT_NS = UINT64_C(2) * PIE_NS_PER_S; /* and … */
static const uint64_t DIGEST_RATIO = 20; /* … times the calls' own time: no more large values are read then */

static const uint64_t UNKNOWN = 0; /* a result that is not compared by value */

/* 0 is no key; the lowest bits of a key say how often it was seen. Open addressing; a power of two. */
struct seen {
    struct {
        uint64_t key, result;
    } *entries;
    size_t capacity, count, once, twice;
};

struct pie_confirm_sums {
    struct pie_confirm_row *row;
    uint64_t key, digest_ns;
    size_t before_bytes; /* of the arguments of the last call */
    uint64_t before;     /* … their hash */
    /* What the last calls of different containers went through, or made, the latest first. Nothing is read there any
     * more. */
    struct pie_confirm_passed passed[IN_TURN];
    struct seen args, results, texts;
};

struct pie_confirm_board *pie_confirm_board;
static struct pie_confirm_sums all_sums[ROWS_MAX];
static size_t all_entries;
size_t pie_confirm_budget_bytes = PIE_CONFIRM_BUDGET_BYTES;

/* --- What was seen --- */

static size_t place_of(const struct seen *seen, uint64_t key) {
    size_t at = (size_t)(pie_hash_upper(key | SEEN) >> 20) & (seen->capacity - 1);

    while (seen->entries[at].key && (seen->entries[at].key | SEEN) != (key | SEEN))
        at = (at + 1) & (seen->capacity - 1);
    return at;
}

/* False: no memory, or all tables together are as large as they may be. */
static bool grow(struct seen *seen) {
    struct seen larger = {.capacity = seen->capacity ? 2 * seen->capacity : FIRST_SEEN,
                          .count = seen->count,
                          .once = seen->once,
                          .twice = seen->twice};

    if (all_entries + larger.capacity - seen->capacity > ENTRIES_MAX)
        return false;
    larger.entries = pie_calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->entries[i].key)
            larger.entries[place_of(&larger, seen->entries[i].key)] = seen->entries[i];
    all_entries += larger.capacity - seen->capacity;
    pie_free(seen->entries);
    *seen = larger;
    return true;
}

static bool is_full(const struct seen *seen) {
    return 2 * seen->count >= seen->capacity || seen->count >= PIE_CONFIRM_DISTINCT_MAX;
}

/* The result that was seen with a key before, for the caller to change. NULL: the key is new; *ret_lost: and is not
 * kept. */
static uint64_t *look_up(struct seen *seen, uint64_t key, uint64_t result, bool *ret_lost) {
    key = key & ~(uint64_t)SEEN ? key & ~(uint64_t)SEEN : SEEN + 1;
    if (is_full(seen) && seen->count < PIE_CONFIRM_DISTINCT_MAX)
        (void)grow(seen);
    size_t at = seen->capacity ? place_of(seen, key) : 0;
    if (seen->capacity && seen->entries[at].key) {
        uint64_t often = seen->entries[at].key & SEEN;
        seen->once -= often == ONCE;
        seen->twice += (often == ONCE) - (often == TWICE);
        seen->entries[at].key += often < OFTEN;
        return &seen->entries[at].result;
    }
    *ret_lost = is_full(seen);
    if (!*ret_lost) {
        seen->entries[at].key = key;
        seen->entries[at].result = result;
        seen->count++;
        seen->once++;
    }
    return NULL;
}

/* --- Sums --- */

struct pie_confirm_sums *pie_confirm_sums_find(uint32_t line, uint64_t key) {
    for (uint32_t i = 0; i < pie_confirm_board->n_rows; i++)
        if (all_sums[i].key == key && all_sums[i].row->line == line)
            return &all_sums[i];
    return NULL;
}

static uint32_t callees_of(uint32_t line) {
    uint32_t count = 0;

    for (uint32_t i = 0; i < pie_confirm_board->n_rows; i++)
        count += all_sums[i].row->line == line;
    return count;
}

struct pie_confirm_sums *pie_confirm_sums_add(uint32_t line, uint64_t key, const char *name, bool is_item) {
    struct pie_confirm_board *board = pie_confirm_board;

    if (callees_of(line) >= PIE_CONFIRM_CALLEES_MAX || board->n_rows >= ROWS_MAX) {
        board->is_short = true;
        return NULL;
    }
    struct pie_confirm_sums *sums = &all_sums[board->n_rows];
    struct pie_confirm_row *row = &board->rows[board->n_rows];
    *row = (struct pie_confirm_row){.line = line, .is_item = is_item};
    snprintf(row->callee, sizeof row->callee, "%s", name);
    *sums = (struct pie_confirm_sums){.row = row, .key = key};
    board->n_rows++;
    return sums;
}

const char *pie_confirm_sums_name(const struct pie_confirm_sums *sums) {
    return sums->row->callee;
}

void pie_confirm_sums_forget(void) {
    for (size_t i = 0; i < ROWS_MAX && all_sums[i].row; i++) { /* a forked child touches no more pages */
        pie_free(all_sums[i].args.entries);
        pie_free(all_sums[i].results.entries);
        pie_free(all_sums[i].texts.entries);
        all_sums[i] = (struct pie_confirm_sums){0};
    }
    all_entries = 0;
}

size_t pie_confirm_sums_budget(const struct pie_confirm_sums *sums) {
    bool is_dear = sums->digest_ns > DIGEST_LIMIT_NS && sums->digest_ns / DIGEST_RATIO > sums->row->call_ns;

    return is_dear ? PIE_CONFIRM_BUDGET_SMALL_BYTES : pie_confirm_budget_bytes;
}

/* --- Calls --- */

static uint64_t less(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

uint64_t pie_confirm_cpu_ns(struct pie_confirm_thread *thread, uint64_t now_ns) {
    if ((int64_t)(now_ns - thread->mark_ns) > MARK_NS) {
        thread->mark_cpu_ns = pie_thread_cpu_ns();
        thread->mark_ns = pie_monotonic_ns();
    }
    return thread->mark_cpu_ns + (now_ns - thread->mark_ns);
}

uint64_t pie_confirm_used_ns(uint64_t begun_ns, uint64_t begun_cpu_ns, uint64_t now_ns) {
    uint64_t ns = less(now_ns, begun_ns);

    if (ns > LONG_NS) {
        uint64_t cpu_ns = less(pie_thread_cpu_ns(), begun_cpu_ns);
        ns = cpu_ns < ns ? cpu_ns : ns;
    }
    return ns;
}

void pie_confirm_call_begin(struct pie_confirm_thread *thread, struct pie_confirm_call *call,
                            uint64_t digest_ns) {
    uint64_t now_ns = pie_monotonic_ns();

    call->sums->digest_ns += digest_ns;
    call->begun_cpu_ns = pie_confirm_cpu_ns(thread, now_ns);
    if (thread->mark_ns > now_ns) { /* the clock was asked, which takes a while */
        now_ns = thread->mark_ns;
        call->begun_cpu_ns = thread->mark_cpu_ns;
    }
    call->inner_ns = call->inner_again_ns = call->inner_single_ns = 0;
    call->inner_bulk_ns = 0;
    call->spent_ns = thread->spent_ns;
    call->outer = thread->innermost;
    thread->innermost = call;
    call->begun_ns = now_ns;
}

void pie_confirm_call_drop(struct pie_confirm_thread *thread, struct pie_confirm_call *call) {
    if (call->sums)
        thread->innermost = call->outer;
    call->sums = NULL;
}

static uint64_t time_of(const struct pie_confirm_thread *thread, const struct pie_confirm_call *call,
                        uint64_t end_ns, uint64_t step_ns) {
    uint64_t ns = pie_confirm_used_ns(call->begun_ns, call->begun_cpu_ns, end_ns);

    return less(ns, step_ns + (thread->spent_ns - call->spent_ns));
}

static struct pie_confirm_call *outer_of_line(const struct pie_confirm_call *call) {
    struct pie_confirm_call *outer = call->outer;

    while (outer && outer->sums->row->line != call->sums->row->line)
        outer = outer->outer;
    return outer;
}

/* What of a call counts for one of its sums, without what calls in it have added. Both go to the call around it. */
static uint64_t own_part(bool counts, uint64_t ns, uint64_t inner_ns, uint64_t *outer_ns) {
    if (outer_ns)
        *outer_ns += counts ? ns : inner_ns;
    return counts ? less(ns, inner_ns) : 0;
}

enum verdict { NEW, AGAIN, ALIKE };

static enum verdict judge(struct pie_confirm_sums *sums, const struct pie_confirm_digest *args,
                          const struct pie_confirm_digest *result) {
    uint64_t word = result->is_value ? result->hash | 1 : UNKNOWN;
    bool is_lost = false;
    uint64_t *before = look_up(&sums->args, args->hash, word, &is_lost);

    sums->row->has_more = sums->row->has_more || is_lost;
    sums->row->distinct_args = sums->args.count;
    sums->row->once = sums->args.once;
    sums->row->twice = sums->args.twice;
    if (!before)
        return NEW;
    bool is_other = *before != UNKNOWN && word != UNKNOWN && *before != word;
    bool is_same = *before != UNKNOWN && word != UNKNOWN && *before == word;
    *before = word;
    return is_other ? NEW : args->is_value && is_same ? AGAIN : ALIKE;
}

/* Such a call may be there for its effect. A caller's calls run code that keeps its state where no argument shows it.
 * And a status comes again by chance. */
static bool may_be_for_effect(PyObject *result) {
    if (result == Py_None)
        return true;
    if (!pie_confirm_lines_are_of_callers)
        return false;
    return PyBool_Check(result) || (PyLong_CheckExact(result) && _PyLong_NumBits(result) <= STATUS_BITS) ||
           (PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) == 0) ||
           (PyUnicode_CheckExact(result) && PyUnicode_GET_LENGTH(result) == 0);
}

/* An element access that gives an array of more than one element has fetched a row. */
static enum verdict note_result(struct pie_confirm_sums *sums, struct pie_confirm_call *call,
                                PyObject *result) {
    struct pie_confirm_digest digest;
    bool is_lost = false;

    pie_confirm_digest_begin(&digest, call->args.budget);
    pie_confirm_digest_add(&digest, result);
    call->is_single = call->is_single && !(sums->row->is_item && digest.elements > 1);
    if (digest.is_value)
        (void)look_up(&sums->results, digest.hash, UNKNOWN, &is_lost);
    pie_confirm_made_note(&call->args, sums->row->line, result, digest.is_value);
    digest.is_value = digest.is_value && !may_be_for_effect(result);
    sums->row->has_more = sums->row->has_more || is_lost;
    sums->row->distinct_results = sums->results.count;
    return judge(sums, &call->args, &digest);
}

static void note_size(struct pie_confirm_sums *sums, size_t size_bytes) {
    sums->row->grew += sums->row->calls > 1 && size_bytes > sums->before_bytes;
    sums->row->arg_bytes += size_bytes;
    sums->before_bytes = size_bytes;
}

static size_t change_of(const struct pie_confirm_passed *before, const struct pie_confirm_passed *now) {
    return now->size > before->size ? now->size - before->size : before->size - now->size;
}

/* The number of the last one that had this container, or of the oldest one. */
static unsigned place_in_turn(const struct pie_confirm_sums *sums, const struct pie_confirm_passed *now) {
    unsigned at = 0;

    while (at < IN_TURN - 1 && sums->passed[at].container != now->container)
        at++;
    return at;
}

/* What a slice has made is cut again, or nothing is: another one is likely at the same place. So is a container of the
 * same size each time, where the call made it from this one: rows of a table, of which the first column is cut off. A
 * choice among items that are the same as before is another matter, and so is one among items that are all new. */
static bool is_carried(struct pie_confirm_sums *sums, const struct pie_confirm_passed *now, bool is_changed) {
    unsigned at = now->kind == PIE_PASSED_SLICE ? 0 : place_in_turn(sums, now);
    const struct pie_confirm_passed *before = &sums->passed[at];
    bool is_lost;

    if (now->kind >= PIE_PASSED_ZEROS && now->kind != PIE_PASSED_CHOICE)
        return true;
    if (now->kind == PIE_PASSED_CODE || now->kind == PIE_PASSED_LIST)
        return look_up(&sums->texts, now->text, UNKNOWN, &is_lost);
    size_t change = change_of(before, now);
    bool is_near = change <= before->size / NEAR + NEAR;

    if (now->kind == PIE_PASSED_CHOICE && !(is_changed && now->text == before->text))
        return false;
    return now->container == before->container && is_near && (now->kind != PIE_PASSED_SLICE || change > 0);
}

static void keep_in_turn(struct pie_confirm_sums *sums, const struct pie_confirm_passed *now) {
    for (unsigned at = place_in_turn(sums, now); at > 0; at--)
        sums->passed[at] = sums->passed[at - 1];
    sums->passed[0] = *now;
}

static void note_passed(struct pie_confirm_sums *sums, struct pie_confirm_call *call, PyObject *result,
                        uint64_t ns) {
    if (!call->passed.kind)
        return;
    pie_confirm_passed_end(&call->passed, result);
    sums->row->passed_kind = call->passed.kind;
    sums->row->passed++;
    sums->row->passed_items += call->passed.items;
    sums->row->passed_ns += ns;
    sums->row->carried += is_carried(sums, &call->passed, call->args.hash != sums->before);
    keep_in_turn(sums, &call->passed);
    if (call->passed.kind == PIE_PASSED_SLICE)
        sums->passed[0].container = result;
}

void pie_confirm_call_end(struct pie_confirm_thread *thread, struct pie_confirm_call *call, uint64_t end_ns,
                          uint64_t step_ns, PyObject *result) {
    struct pie_confirm_sums *sums = call->sums;
    struct pie_confirm_row *row = sums->row;
    uint64_t ns = time_of(thread, call, end_ns, step_ns), read_ns = pie_monotonic_ns(),
             read_cpu_ns = pie_confirm_cpu_ns(thread, read_ns);
    enum verdict verdict = result ? note_result(sums, call, result) : NEW;
    struct pie_confirm_call *outer = outer_of_line(call);

    row->calls++;
    row->raised += !result;
    row->compared += result && call->args.is_value;
    row->again += verdict == AGAIN;
    row->alike += verdict == ALIKE;
    row->same += verdict != NEW && call->args.hash == sums->before;
    row->singles += call->is_single;
    row->alike_ns +=
        verdict == ALIKE ? less(ns, call->inner_ns) : 0; /* calls within it speak for themselves */
    row->call_ns += own_part(true, ns, call->inner_ns, outer ? &outer->inner_ns : NULL);
    row->again_ns +=
        own_part(verdict == AGAIN, ns, call->inner_again_ns, outer ? &outer->inner_again_ns : NULL);
    row->single_ns +=
        own_part(call->is_single, ns, call->inner_single_ns, outer ? &outer->inner_single_ns : NULL);
    row->bulk_ns += own_part(call->is_operator && call->args.elements >= BULK_ELEMENTS, ns,
                             call->inner_bulk_ns, outer ? &outer->inner_bulk_ns : NULL);
    note_size(sums, call->args.size_bytes);
    note_passed(sums, call, result, ns);
    sums->before = call->args.hash;
    sums->digest_ns += pie_confirm_used_ns(read_ns, read_cpu_ns, pie_monotonic_ns());
    pie_confirm_call_drop(thread, call);
}
