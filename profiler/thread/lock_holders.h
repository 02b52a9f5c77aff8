/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Which threads took which locks last. A newer lock may displace an older one: then the holder of that is not known.
 * Releases are not noted: ask only for a lock that is held. */

/* The calling thread is about to wait for a semaphore, which is what locks of Python are; 0: it has waited. Some ns;
 * keeps errno. Context: hook, signal. */
void pie_lock_wait(uintptr_t semaphore);

/* The calling thread is about to take a lock that is no semaphore, and may wait for one of its own until it has it; 0:
 * it has, or has given up. Returns what it was about to take before. Some ns; keeps errno. Context: gil. */
uintptr_t pie_lock_wait_for(uintptr_t lock);

/* The calling thread has taken a lock. Some ns; keeps errno. Context: hook, signal. */
void pie_lock_taken(uintptr_t lock);

enum { PIE_LOCK_HOLDER_BITS = 16 };

/* The low bits of the id of the thread that took it last; 0: not known. Context: any. */
uint32_t pie_lock_holder(uintptr_t lock);

struct pie_thread;

/* The same of what a thread waits for, when the kernel says that it waits for this futex. Context: drain. */
uint32_t pie_lock_holder_for(const struct pie_thread *waiting, uintptr_t futex);

/* In a forked child, whose threads have other ids. */
void pie_lock_holders_reset(void);
