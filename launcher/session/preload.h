/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* --allocator=jemalloc: malloc() is the same for the whole life of a process, so the program is executed once more,
 * with the library preloaded; LD_PRELOAD has its old value again before any user code runs. */

/* Removes the entries that the previous execution put into the environment. Context: launcher (first of all). */
void pie_preload_clean(void);

/* The libraries to preload for this allocator, with a colon between them, on the heap; *ret_list is NULL where there
 * are none to be. Returns 0, or -ENOENT: it is not installed; or -ENOMEM. */
int pie_preload_list(const char *allocator, char **ret_list);

/* Makes sure that this allocator serves malloc() (NULL, "system": nothing to do). Does not return if the program
 * must be executed again: before_exec restores the entries removed from the environment since. Returns 0, or
 * -ENOENT: its library is not installed; or another -errno. */
int pie_preload_allocator(const char *allocator, char **argv, void (*before_exec)(void *data), void *data);
