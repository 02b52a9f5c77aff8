/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/sink.h"

#include <stddef.h>

/* Estimates of the bytes that copy loops copied (copies/loop.h), on the collection thread. Context: drain (all
 * functions). */

struct pie_copy_loops;
struct pie_naming;
struct pie_thread;

/* Handlers begin to look for copy loops. naming is borrowed. Returns 0; -ENOSYS: there is no decoder; -ENOMEM. */
int pie_copy_loops_create(struct pie_naming *naming, struct pie_copy_loops **ret_loops);
void pie_copy_loops_destroy(struct pie_copy_loops *loops);

/* Empties a thread's ring. slot: of the thread in the region. */
void pie_copy_loops_thread(struct pie_copy_loops *loops, struct pie_thread *thread, size_t slot);
/* The thread has ended: the slot's next one has nothing to do with it. */
void pie_copy_loops_thread_ended(struct pie_copy_loops *loops, size_t slot);
/* Libraries were unloaded. */
void pie_copy_loops_forget(struct pie_copy_loops *loops);

/* Names the contexts of what was added since the last clear, outside any transaction, and makes rows of it; nodes are
 * stored ones (naming.h). Valid until the next call. */
const struct pie_copy_row *pie_copy_loops_rows(struct pie_copy_loops *loops, size_t *ret_count);
void pie_copy_loops_clear(struct pie_copy_loops *loops);
/* What still waits for the speed of its loop waits no longer. */
void pie_copy_loops_end(struct pie_copy_loops *loops);
/* The same for what there is now; then, when nothing waits, forgets what is known of places in the program. */
void pie_copy_loops_complete(struct pie_copy_loops *loops);
void pie_copy_loops_forget_places(struct pie_copy_loops *loops);
