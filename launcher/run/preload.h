/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* --allocator=jemalloc: malloc() is the same for the whole life of a process, so the program is executed once more,
 * with the library preloaded; LD_PRELOAD is what it was again before anything of the user's runs. */

/* Takes back what the execution before has put into the environment. Context: launcher (first of all). */
void pie_preload_clean(void);

/* Makes sure that this allocator serves malloc() (NULL, "system": nothing to do). Does not return if the program must
 * be executed again: before_exec puts back what was taken out of the environment since. Returns 0, or -ENOENT: its
 * library is not installed; or another -errno. */
int pie_preload_allocator(const char *allocator, char **argv, void (*before_exec)(void *data), void *data);
