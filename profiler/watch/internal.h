/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/watch/watch.h"

/* Shared by the parts of the watch's policy. Context: signal (all functions). */

struct pie_call_path;
struct pie_native_frame;

/* Serials of watches have these bits (the cookie of a register, watch_sigsafe.c). */
enum { PIE_WATCH_SERIAL_MASK = 0x1fffffff };

/* NULL: watching is off. */
const struct pie_watch_settings *pie_watch_settings(void);

/* Of the last settings: valid in a handler even when watching has just been stopped. */
const struct pie_pystack_ops *pie_watch_ops(void);
const struct pie_debug_ops *pie_watch_registers_in_use(void); /* NULL: nothing was ever watched */

/* Random bits of the thread's own generator. */
uint64_t pie_watch_random(struct pie_watch_thread *watch);

/* --- Which slot: watch/slots_sigsafe.c --- */

/* The slot for a new watch: a free one, or one that loses its own (its end is recorded); -1: all are kept. */
int pie_watch_choose_slot(struct pie_thread *thread);
void pie_watch_disarm(struct pie_thread *thread, unsigned index);
/* The slot's register is disarmed, its watch forgotten. */
void pie_watch_free_slot(struct pie_thread *thread, unsigned index);
/* Is a sample of this line to begin a watch, if it can? By chance; see watch/interest_sigsafe.c. */
bool pie_watch_wants(struct pie_watch_thread *watch, struct pie_cct_id line_node);
/* Is a sample in this context to begin none, for the sake of other lines? By chance. */
static inline bool pie_watch_passes_over(struct pie_watch_thread *watch,
                                         const struct pie_watch_settings *settings, struct pie_cct_id node) {
    return settings->is_adaptive && !pie_watch_wants(watch, pie_watch_own_line(settings->ops, node));
}
/* The registers in these bits fired. Before that is handled, since their watches may be over then. */
void pie_watch_note_traps(struct pie_thread *thread, unsigned fired, uint64_t price_ns);
/* What a watch has taken so far, as a record holds it. */
uint16_t pie_watch_cost_us(const struct pie_watch_slot *slot);
/* Trap or no trap, time passes: may another watch begin? Charges nothing. */
bool pie_watch_has_credit(struct pie_thread *thread, const struct pie_watch_settings *settings);
/* Did the last watches that began at a place come to nothing, so that few begin there? By chance. A place is a basic
 * block, or a call site of either kind; see watch/interest_sigsafe.c */
enum pie_watch_place { PIE_WATCH_AT_CALL, PIE_WATCH_AT_BLOCK };
bool pie_watch_is_fruitless(struct pie_watch_thread *watch, enum pie_watch_place kind, uint64_t place);
/* Was pie_watch_set_item() called for this code unit? */
bool pie_watch_is_item(uint64_t site);
/* A watch that began there has something to compare; or it has not. */
void pie_watch_note_fruit(uint64_t place, bool has_fruit);
/* A profile begins. Context: drain. */
void pie_watch_fruit_forget(void);
static inline uint64_t pie_watch_place_of_block(const struct pie_basic_block *block) {
    return (uintptr_t)block;
}
static inline uint64_t pie_watch_place_of_call(uint64_t site, bool is_outer) {
    return site + is_outer;
}
/* Is a register free, and is so much of the budget left that a watch takes nothing from others? By chance. */
bool pie_watch_has_spare(struct pie_watch_thread *watch);
/* Is a sample that may begin a watch of a call to do so? One in one_in of them, and up to one in two while a register
 * is free and little of the budget is spent. */
bool pie_watch_is_drawn(struct pie_thread *thread, const struct pie_watch_settings *settings,
                        uint32_t one_in);
/* The time of a handler that began at start_ns until now, waits for helpers included. */
uint64_t pie_watch_spent_since(const struct pie_thread *thread, uint64_t start_ns);
/* CPU time of the thread without what watching took of it. */
uint64_t pie_watch_program_ns(const struct pie_thread *thread);
/* Charges the time in the kernel for a signal of ours, besides: periods of the clock may have ended there. */
void pie_watch_charge_kernel(struct pie_thread *thread, uint64_t ns);
/* Charges the time spent, and takes it out of the program's CPU time, except for the thread's waits. */
void pie_watch_charge(struct pie_thread *thread, uint64_t ns);

/* --- The memory to watch: watch/memory_sigsafe.c --- */

/* The word of an access that is watched: a naturally aligned power of two up to 8 bytes, chosen uniformly in wide
 * operands and strings. */
struct pie_watch_word {
    uint64_t address;
    uint32_t size;  /* 1, 2, 4, 8 */
    uint64_t bytes; /* that the whole access touches */
};

/* address: of the access's first byte. False: there is no word (a string of no bytes, an address outside user
 * space). */
bool pie_watch_choose_word(struct pie_watch_thread *watch, const struct pie_access *access,
                           const uint64_t registers[PIE_ACCESS_REGISTERS], uint64_t address,
                           struct pie_watch_word *ret_word);

/* Is the word of interest (PieProf §4.2)? Not: stacks, frames of Python, object headers, the fields of types, and, for
 * loads, the images of programs, where constants live. low and high: the native stack in use. */
bool pie_watch_is_interesting(const struct pie_pystack_ops *ops, const struct pie_access *access,
                              const uint64_t registers[PIE_ACCESS_REGISTERS], enum pie_watch_kind kind,
                              uint64_t address, uint64_t stack_low, uint64_t stack_high);

enum pie_watch_memory pie_watch_memory_of(const struct pie_pystack_ops *ops, const struct pie_access *access,
                                          const uint64_t registers[PIE_ACCESS_REGISTERS], uint64_t address);
/* Does the address belong to the object that a call returned in RAX? */
bool pie_watch_is_of_result(const struct pie_pystack_ops *ops, uint64_t rax, uint64_t address);

/* The word's value; false: unreadable. No register may watch the word for loads on this thread. */
bool pie_watch_read(uint64_t address, uint32_t size, uint64_t *ret_value);

/* Ends all watches of the thread. */
void pie_watch_rest(struct pie_thread *thread);

/* --- Words of copies: watch/copy_sigsafe.c --- */

/* The word of such a slot was written; its register is another's from now on. */
void pie_watch_copy_written(struct pie_thread *thread, unsigned index);
void pie_watch_copy_lost(struct pie_watch_slot *slot);
/* At a sample: a word that has been watched for too long is not watched any more. */
void pie_watch_copy_give_up(struct pie_thread *thread);

/* --- Stages --- */

void pie_watch_enter_stage(struct pie_watch_slot *slot, enum pie_watch_stage stage);
/* False: refused, now or less than a second ago; counted. The slot is as it was. */
bool pie_watch_try_arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
                       unsigned length);
/* At the slot's return_ip: is it another return, of a call within the awaited one? Counted; after too many of them no
 * longer. */
bool pie_watch_is_deeper(struct pie_watch_slot *slot, const ucontext_t *ucontext);
/* Leaves a record of the slot, whose common part is filled in here. */
void pie_watch_push(struct pie_thread *thread, unsigned index, struct pie_watch_record *record);

/* Stage 3 of memory: watch/data_sigsafe.c. The watched word was touched; the call that touched it has returned. */
void pie_watch_data_touched(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);
void pie_watch_next_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);
/* The watch is over: leaves its last record, frees the slot. */
void pie_watch_end(struct pie_thread *thread, unsigned index, struct pie_watch_record *record,
                   enum pie_watch_outcome outcome);
/* The same, with the outcome known by now, LOST if there is none. */
void pie_watch_give_up(struct pie_thread *thread, unsigned index);

/* A handler must leave debug registers alone here. */
bool pie_watch_must_yield(const ucontext_t *ucontext);
/* Makes a slot that of a watch of a call alone, which is at work now. */
void pie_watch_begin_call(struct pie_thread *thread, unsigned index, const struct pie_call_path *taken);
/* Calls what pie_watch_set_returned() has set. */
void pie_watch_announce_return(struct pie_thread *thread);
/* Where a call that the evaluation loop of this frame has made returns to, while its arguments still lie on the
 * evaluation stack: watch/data_sigsafe.c. */
const struct pie_native_frame *pie_watch_return_of(const struct pie_pystack_ops *ops,
                                                   const struct pie_call_path *taken,
                                                   const struct pie_native_frame *loop);
/* The watched call returned to the evaluation loop. */
void pie_watch_call_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);

/* A call of own code for which Python code is at work. */
struct pie_watch_outer {
    const struct pie_native_frame *loop; /* runs the frame that calls; NULL: it calls a Python function, … */
    const struct pie_native_frame *back; /* what that call returns to */
    uintptr_t unit;                      /* … at this code unit */
    bool is_of_own;                      /* … a function of own code */
    uint64_t site;                       /* its CCT key */
    uint32_t above;                      /* where that is in the path */
};

/* Outer calls: watch/outer_call_sigsafe.c. Something touched the return address; the interpreter comes to the code unit
 * that calls. */
void pie_watch_outer_touched(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);
void pie_watch_outer_site(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);
/* What is compared of an outer call; 0: nothing can be. */
uint64_t pie_watch_outer_value(const struct pie_call_digest *call);
/* The node of the slot's call. */
struct pie_cct_id pie_watch_outer_node(const struct pie_watch_slot *slot);
enum pie_code_owner pie_watch_owner_of(const struct pie_pystack_ops *ops, uintptr_t code);
/* Where a Python frame is in the path. False: nowhere. */
bool pie_watch_find_site(const struct pie_pystack_ops *ops, const struct pie_call_path *taken,
                         const struct pie_pyframe *frame, struct pie_watch_outer *outer);
static inline bool pie_watch_waits_for_return_address(const struct pie_watch_slot *slot) {
    return slot->stage == PIE_WATCH_OUTER || slot->stage == PIE_WATCH_OUTER_NEXT;
}
static inline bool pie_watch_waits_for_site(const struct pie_watch_slot *slot) {
    return slot->stage == PIE_WATCH_FIRST || slot->stage == PIE_WATCH_SITE;
}

/* Calls of Python functions, which are outer calls but for these: watch/python_call_sigsafe.c. One that is at work. */
bool pie_watch_find_python_call(struct pie_thread *thread, const struct pie_pystack_ops *ops,
                                const struct pie_call_path *taken, struct pie_watch_outer *ret_outer);
/* The slot's call is to be watched when it is made again. */
void pie_watch_python_begin(struct pie_thread *thread, unsigned index, const struct pie_watch_outer *outer);
/* The slot's watch ends while it waits: if it is of a Python call, that place is left alone for a while. */
void pie_watch_python_shun(struct pie_thread *thread, const struct pie_watch_slot *slot);
/* The interpreter comes to the code unit, or something else touches it. Something is stored where the result will
 * be. */
void pie_watch_python_site(struct pie_thread *thread, unsigned index);
void pie_watch_python_stored(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);
/* What is compared of such a call; 0: nothing can be. */
uint64_t pie_watch_python_value(const struct pie_watch_slot *slot, const struct pie_call_digest *call);

/* Stage 3 of results: watch/result_sigsafe.c. A call has returned something: perhaps wait for the next one's result.
 * False: watch memory instead. */
bool pie_watch_result(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext,
                      struct pie_watch_record *reached);
/* A call returned where a result is waited for; the interpreter comes to the code unit that calls. */
void pie_watch_another_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext);
void pie_watch_site_reached(struct pie_thread *thread, unsigned index);
/* Are two results equal within a tolerance, a part of the numbers from 0 to below 1? watch/tolerance_sigsafe.c */
bool pie_watch_is_close(const struct pie_value_floats *a, const struct pie_value_floats *b, double tolerance);
/* How many results of the place's next calls are compared, `most` at most; and that one was equal to the first after
 * `tries` of them, or none of these was: watch/interest_sigsafe.c */
uint32_t pie_watch_patience(struct pie_watch_thread *watch, uint64_t site, uint32_t most);
void pie_watch_waited(uint64_t site, uint32_t tries, bool is_equal);
/* A profile begins. Context: drain. */
void pie_watch_patience_forget(void);
/* Waits until the interpreter comes to the code unit that calls, or gives up. */
void pie_watch_leave_for_site(struct pie_thread *thread, unsigned index);
/* The outcome so far of a watch that ends before its time. */
enum pie_watch_outcome pie_watch_result_so_far(const struct pie_watch_slot *slot,
                                               enum pie_watch_outcome otherwise);
