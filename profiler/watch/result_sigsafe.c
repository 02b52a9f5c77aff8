/* SPDX-License-Identifier: Apache-2.0 */

/* Stage 3 of the other question: what does the same place in the program get from its next calls, and by which
 * arguments? The execute breakpoint at the return stays armed; calls of other places return there too, and are waited
 * out.
 *
 * A result whose value can be compared is, whatever the arguments were; they are compared beside it. Where it cannot,
 * the arguments decide, with the result as far as it can be read. */

#include "profiler/watch/internal.h"

#include "profiler/base/counters.h"
#include "profiler/base/hash.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/evidence.h"

/* Returns to other places that are waited out at a time and in all; results of the place itself that are compared,
 * since several callers may take turns at it: numbers may come again by chance, arrays hardly; words that make "half of
 * them" mean something. */
enum {
    STRAYS_NEAR = 4,
    STRAYS_MAX = 200,
    SIZES_A_TRY = 4, /* results of another size that take the place of a try where few are enough */
    TRIES_MAX = 4,
    ARRAY_TRIES_MAX = 12,
    PYTHON_TRIES_MAX =
        2, /* of a Python call, whose tries take two traps each; the drain knows what came before */
    ARRAY_BYTES_MIN = 64,
    PARTLY_WORDS_MIN = 24,
    UNIT_BYTES = 2,
};

/* Waiting may overdraw the budget by so much; it is paid back before the next watch. */
static const int64_t CREDIT_NS = 1500000;

/* Set by the collection thread (release), read by handlers (acquire). */
static void (*_Atomic at_return)(struct pie_thread *thread);

void pie_watch_set_returned(void (*returned)(struct pie_thread *thread)) {
    atomic_store_explicit(&at_return, returned, memory_order_release);
}

void pie_watch_announce_return(struct pie_thread *thread) {
    void (*returned)(struct pie_thread *) = atomic_load_explicit(&at_return, memory_order_acquire);

    if (returned)
        returned(thread);
}

static _Atomic bool calls_rest;

void pie_watch_rest_calls(bool rest) {
    atomic_store_explicit(&calls_rest, rest, memory_order_relaxed);
}

bool pie_watch_calls_rest(void) {
    return atomic_load_explicit(&calls_rest, memory_order_relaxed);
}

/* A call returned to the loop. The code unit that made it, if that is the slot's place in the program; else 0. */
static uintptr_t unit_of_call(struct pie_thread *thread, const struct pie_watch_slot *slot,
                              const ucontext_t *ucontext) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_pyframe frame;
    unsigned flags;

    if (slot->is_python) /* its frame was looked at when it returned */
        return slot->unit;
    if ((uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] != slot->return_sp ||
        ops->walk(&frame, 1, &flags) == 0)
        return 0;
    uint64_t key = pie_cct_python_key(ops->intern(frame.code), ops->instr_offset(frame.code, frame.instr));
    return key == slot->site ? frame.instr : 0;
}

static struct pie_value value_of(uintptr_t result) {
    struct pie_value value = {.content = 0};
    const struct pie_pystack_ops *ops = pie_watch_ops();

    if (ops->value)
        ops->value(result, &value);
    return value;
}

/* What the call returned: an address, which may be none of an object. */
static uintptr_t result_of(const struct pie_watch_slot *slot, const ucontext_t *ucontext) {
    return slot->is_python ? slot->python.result : (uintptr_t)ucontext->uc_mcontext.gregs[REG_RAX];
}

static struct pie_call_digest digest_of(const struct pie_watch_slot *slot, const struct pie_value *result) {
    struct pie_call_digest digest;
    const struct pie_pystack_ops *ops = pie_watch_ops();

    if (slot->is_python) {
        ops->python_calls->digest(&slot->python, result, &digest);
        return digest;
    }
    if (!ops->call_digest || !ops->call_digest(result, &digest))
        return (struct pie_call_digest){.content = 0};
    return digest;
}

static uint64_t call_hash(const struct pie_call_digest *call) {
    return call->content ? pie_hash_mix(pie_hash_mix(call->content, call->state), call->result) | 1 : 0;
}

/* What is compared with the next calls: the result, else the whole call. 0: neither can be. Most of the interpreter's
 * own functions that return a small number (len(), max(), isinstance()) cost less than to look it up. */
static uint64_t choose_value(struct pie_watch_slot *slot, uintptr_t result,
                             struct pie_watch_record *reached) {
    struct pie_value value = value_of(result);

    slot->call = digest_of(slot, &value);
    bool has_state = slot->call.content && slot->call.traits;
    reached->variety = value.variety;
    reached->has_arguments = slot->call.is_telling && !slot->call.traits;
    if (slot->is_outer) {
        slot->memory = PIE_WATCH_MEMORY_CALL;
        reached->has_arguments = !slot->is_python || !slot->call.traits;
        if (slot->is_python)
            return pie_watch_python_value(slot, &slot->call);
        return pie_watch_outer_value(&slot->call);
    }
    if (value.is_comparable && !(value.is_read_out && has_state)) {
        slot->memory = PIE_WATCH_MEMORY_RETURNED;
        return value.content;
    }
    if (slot->is_call ? !slot->call.is_telling || !slot->call.is_new
                      : !slot->call.is_telling && !slot->call.is_likely)
        return 0;
    slot->memory = PIE_WATCH_MEMORY_CALL;
    slot->traits |= slot->call.is_telling ? 0 : PIE_WATCH_SAMPLED;
    return call_hash(&slot->call);
}

/* For a comparison within the tolerance, if there is one. count 0: there is none, or the result has no such numbers. */
static void take_floats(const struct pie_watch_slot *slot, uintptr_t result,
                        struct pie_value_floats *ret_floats) {
    const struct pie_watch_settings *settings = pie_watch_settings();

    ret_floats->count = 0;
    if (settings && settings->fp_tolerance > 0 && settings->ops->value_floats &&
        slot->memory == PIE_WATCH_MEMORY_RETURNED)
        settings->ops->value_floats(result, ret_floats);
}

/* Fewer where more have found nothing. */
static uint32_t tries_of(struct pie_watch_thread *watch, const struct pie_watch_slot *slot) {
    bool is_array = !slot->is_outer && slot->bytes >= ARRAY_BYTES_MIN;

    return slot->is_python ? PYTHON_TRIES_MAX
                           : pie_watch_patience(watch, slot->site, is_array ? ARRAY_TRIES_MAX : TRIES_MAX);
}

/* Are the words of its results compared? A library's Python function returns what its calls have computed. */
static bool has_words(const struct pie_watch_slot *slot) {
    return slot->memory == PIE_WATCH_MEMORY_RETURNED ||
           (slot->is_outer && !(slot->traits & PIE_WATCH_OWN_CALL));
}

static void take_words(const struct pie_watch_slot *slot, const ucontext_t *ucontext,
                       struct pie_value_words *words) {
    if (pie_watch_ops()->value_words && has_words(slot))
        pie_watch_ops()->value_words(result_of(slot, ucontext), words);
}

bool pie_watch_result(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext,
                      struct pie_watch_record *reached) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    uintptr_t result = result_of(slot, ucontext);
    uint64_t hash = 0;

    if (pie_watch_calls_rest())
        return false;
    if (slot->is_outer &&
        !unit_of_call(thread, slot, ucontext)) /* another stack lies here by now, as where greenlets switch */
        return false;
    bool is_asked = !pie_watch_is_item(slot->site) && pie_watch_random(pie_watch_of(thread)) % 2;
    if (slot->is_call || is_asked)
        hash = choose_value(slot, result, reached);
    if (slot->is_call)
        pie_watch_note_fruit(pie_watch_place_of_call(slot->site, slot->is_outer), hash != 0);
    if (!hash)
        return false;
    slot->kind = PIE_WATCH_STORE;
    slot->traits =
        (uint16_t)(slot->traits & ~PIE_WATCH_ARGUMENTS) | (slot->call.content ? PIE_WATCH_ARGUMENTS : 0);
    slot->value = hash;
    slot->tries = 0;
    slot->is_far = slot->is_unsure = false;
    slot->words = (struct pie_value_words){0};
    take_words(slot, ucontext, &slot->words);
    take_floats(slot, result, &slot->floats);
    slot->unit = unit_of_call(thread, slot, ucontext);
    slot->address = slot->site;
    slot->size = 0;
    slot->bytes = slot->words.bytes;
    slot->tries_most = tries_of(pie_watch_of(thread), slot);
    reached->value_before = hash;
    reached->arguments = slot->call.content;
    if (slot->is_outer) {
        reached->value_after = pie_hash_mix(slot->call.content, slot->call.state) | 1;
        reached->second_node.value = __atomic_load_n(&slot->first_node.value, __ATOMIC_RELAXED);
    }
    pie_watch_enter_stage(slot, PIE_WATCH_RESULT);
    pie_counter_add(PIE_COUNTER_WATCH_REACHED, 1);
    pie_watch_push(thread, index, reached);
    if (slot->is_outer)
        pie_watch_leave_for_site(thread, index);
    return true;
}

static uint32_t sizes_of(const struct pie_watch_slot *slot) {
    return slot->tries_most < ARRAY_TRIES_MAX ? slot->tries_most * SIZES_A_TRY : STRAYS_MAX;
}

static bool has_word(const struct pie_value_words *words, uint32_t count, uint64_t word) {
    for (uint32_t i = 0; i < count; i++)
        if (words->words[i] == word)
            return true;
    return false;
}

/* Half of the words at least, at the same distances from the beginning: an array that grew, or of which a part was
 * computed anew. A few different words, as those of flags and labels, may be equal by chance. So may those of states,
 * cells of a grid and truth values: their words recur, while numbers of which a part was kept mostly differ. */
static bool is_partly_same(const struct pie_watch_slot *slot, const struct pie_value_words *now) {
    struct pie_value_words kept = {0};
    uint32_t same = 0;

    for (uint32_t i = 0; i < now->count && i < slot->words.count; i++) {
        if (now->words[i] != slot->words.words[i] || now->words[i] == 0)
            continue;
        if (!has_word(&kept, kept.count, now->words[i]))
            kept.words[kept.count++] = now->words[i];
        same++;
    }
    return slot->words.count >= PARTLY_WORDS_MIN && same * 2 >= slot->words.count &&
           kept.count >= PIE_WATCH_VARIETY_MIN && kept.count * 4 >= same * 3;
}

/* The place got another value. Is it to be told now? Else the next one may be the same: that of the same caller. Arrays
 * of another size are hardly worth a try. */
static bool is_change(struct pie_watch_slot *slot, const ucontext_t *ucontext) {
    struct pie_value_words now = {.step_bytes = slot->words.step_bytes};

    take_words(slot, ucontext, &now);
    if (is_partly_same(slot, &now)) {
        slot->traits |= PIE_WATCH_PARTLY;
        return true;
    }
    if (!slot->is_outer && now.bytes != slot->words.bytes)
        return ++slot->strays >= sizes_of(slot);
    return ++slot->tries >= slot->tries_most;
}

/* That several results differed is known, although more were to be tried. Else what changes, which takes many tries,
 * would be found less often than what stays the same, which takes one. */
enum pie_watch_outcome pie_watch_result_so_far(const struct pie_watch_slot *slot,
                                               enum pie_watch_outcome otherwise) {
    bool is_result = slot->stage == PIE_WATCH_RESULT || slot->stage == PIE_WATCH_SITE ||
                     slot->stage == PIE_WATCH_OUTER_NEXT;

    return is_result && slot->tries >= TRIES_MAX ? PIE_WATCH_CHANGED : otherwise;
}

void pie_watch_leave_for_site(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (slot->strays >= STRAYS_MAX || pie_watch_of(thread)->credit_ns < -CREDIT_NS || !slot->unit ||
        !pie_watch_try_arm(thread, index, PIE_DEBUG_LOAD_STORE, slot->unit, UNIT_BYTES)) {
        pie_watch_give_up(thread, index);
        return;
    }
    slot->stage = PIE_WATCH_SITE;
    slot->site_cpu_ns = thread->cpu_last_ns;
    slot->is_far = true;
}

void pie_watch_site_reached(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (pie_watch_try_arm(thread, index, PIE_DEBUG_EXECUTE, slot->return_ip, 1))
        slot->stage = PIE_WATCH_RESULT;
    else
        pie_watch_give_up(thread, index);
}

static void another_place(struct pie_thread *thread, unsigned index) {
    pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
    if (++pie_watch_of(thread)->slots[index].strays % STRAYS_NEAR == 0)
        pie_watch_leave_for_site(thread, index);
}

/* The value of this call's result; that of the slot's, if they are equal within the tolerance. 0: it has none. */
static uint64_t compare_result(const struct pie_watch_slot *slot, uintptr_t result,
                               const struct pie_value *value) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    struct pie_value_floats now;

    if (!value->is_comparable)
        return 0;
    if (value->content == slot->value || slot->floats.count == 0)
        return value->content;
    take_floats(slot, result, &now);
    return settings && now.count && pie_watch_is_close(&slot->floats, &now, settings->fp_tolerance)
               ? slot->value
               : value->content;
}

/* As far as can be seen: what has no value that can be read is the same object in the same state. Python code changes
 * its objects where that is not seen. */
static bool has_same_arguments(const struct pie_watch_slot *slot, const struct pie_call_digest *b) {
    const struct pie_call_digest *a = &slot->call;

    unsigned open = slot->is_python ? PIE_DIGEST_OPAQUE | PIE_DIGEST_SAMPLED : PIE_DIGEST_SAMPLED;
    return (a->is_telling || slot->is_outer) && a->content == b->content && a->state == b->state &&
           !(a->traits & open);
}

/* The value that this call of the place has for the one that is waited for; notes how its arguments compare. */
static uint64_t compare_call(struct pie_watch_slot *slot, uintptr_t result, struct pie_watch_record *record) {
    struct pie_value value = value_of(result);
    struct pie_call_digest now = digest_of(slot, &value);

    record->has_arguments = has_same_arguments(slot, &now);
    if (slot->memory == PIE_WATCH_MEMORY_CALL) {
        /* By other values the arguments are others; by another state, or result, that is not certain. */
        bool is_same_state = slot->is_outer && now.state == slot->call.state;
        slot->is_unsure |= now.content == 0 || (now.content == slot->call.content && !is_same_state);
        if (slot->is_python)
            return pie_watch_python_value(slot, &now);
        return slot->is_outer ? pie_watch_outer_value(&now) : call_hash(&now);
    }
    uint64_t found = compare_result(slot, result, &value);
    if (found != slot->value)
        return found;
    bool is_near =
        value.content != slot->value; /* the arguments may be near ones too, which digests do not show */
    if (!now.content || is_near)
        slot->traits &= (uint16_t)~PIE_WATCH_ARGUMENTS;
    else if (slot->call.content && now.content != slot->call.content)
        slot->traits |= PIE_WATCH_OTHER_ARGUMENTS;
    return found;
}

static enum pie_watch_outcome outcome_of(const struct pie_watch_slot *slot, uint64_t value) {
    if (value == slot->value)
        return PIE_WATCH_REDUNDANT;
    return slot->is_unsure ? PIE_WATCH_LOST : PIE_WATCH_CHANGED;
}

/* A part that is the same is an answer too. */
static void note_wait(const struct pie_watch_slot *slot, bool is_equal) {
    bool is_found = is_equal || slot->traits & PIE_WATCH_PARTLY;

    if (!slot->is_python)
        pie_watch_waited(slot->site, is_found ? slot->tries + 1 : slot->tries_most, is_found);
}

void pie_watch_another_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    struct pie_watch_record record = {0};
    struct pie_call_path taken;

    if (!unit_of_call(thread, slot, ucontext)) {
        another_place(thread, index);
        return;
    }
    record.value_after = compare_call(slot, result_of(slot, ucontext), &record);
    if (record.value_after != slot->value && !is_change(slot, ucontext)) {
        if (slot->is_far)
            pie_watch_leave_for_site(thread, index);
        return;
    }
    note_wait(slot, record.value_after == slot->value);
    pie_call_path_take(pie_watch_ops(), thread, ucontext, false, &taken);
    record.second_node = taken.node;
    pie_watch_end(thread, index, &record, outcome_of(slot, record.value_after));
}
