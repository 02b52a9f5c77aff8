/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The life of a thread's slot. Its word holds the stage and a generation that grows with each taking, so a move that
 * was decided on an earlier thread's word fails. Each move is one compare-and-swap from the word that was seen:
 *
 *   FREE -> CLAIMED -> STARTING        a new thread, on itself
 *   STARTING -> ARMING -> RUNNING      the collection thread, when the thread is old enough for a clock
 *   STARTING, ARMING, RUNNING -> ENDED the thread, as it ends; the collection thread for one that went without a word
 *   STARTING -> CLAIMED -> FREE        the thread, as it ends: it never had a clock and leaves nothing to drain
 *   ENDED -> FREE                      the collection thread: drained, its clock closed
 *
 * So a thread that ends while it is armed is ENDED, whatever the collection thread does next, and no slot stays behind.
 * Free slots are a stack (linked by index); its head carries a count against ABA. All of it is lock-free. */

struct pie_thread;

enum pie_thread_state {
    PIE_THREAD_FREE,
    PIE_THREAD_CLAIMED,  /* its fields are being set, or its thread takes it back */
    PIE_THREAD_STARTING, /* has no clock yet; most short threads end here */
    PIE_THREAD_ARMING,   /* the collection thread gives it a clock */
    PIE_THREAD_RUNNING,
    PIE_THREAD_ENDED, /* waits for the collection thread to drain it */
};

/* The word; acquire: what was written before the move that made it is seen. Context: any. */
uint64_t pie_thread_word(const struct pie_thread *thread);
enum pie_thread_state pie_thread_stage(uint64_t word);
enum pie_thread_state pie_thread_state(const struct pie_thread *thread);
/* The word of the same generation in another stage. Context: any. */
uint64_t pie_thread_with(uint64_t word, enum pie_thread_state stage);
/* Moves a slot on from the word that was seen (release). False: it is no longer that. Context: any. */
bool pie_thread_move(struct pie_thread *thread, uint64_t seen, enum pie_thread_state to);

/* A slot in stage CLAIMED, or NULL. Context: hook. */
struct pie_thread *pie_thread_take_slot(void);
/* Makes a slot that is CLAIMED or ENDED free for the next thread. Context: hook, drain. */
void pie_thread_give_back(struct pie_thread *thread);

/* A thread has begun or has left its slot to be drained. True: the collection thread is to be woken; false: it looks
 * soon anyway. Context: hook. */
bool pie_threads_changed(void);
/* The collection thread looks now, at what changed before; after it has looked, it will look again within a
 * millisecond. Context: drain. */
void pie_threads_begin_look(void);
void pie_threads_end_look(void);

/* Slots 0 … pie_thread_count() - 1 have been used so far. Context: any. */
size_t pie_thread_count(void);
struct pie_thread *pie_thread_at(size_t index);
size_t pie_thread_index(const struct pie_thread *thread);
/* How many of them are not free. Context: any. */
size_t pie_thread_in_use(void);

/* In a forked child: the region was reset. */
void pie_thread_slots_reset(void);
