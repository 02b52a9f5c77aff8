/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Do the lists of threads and the GIL, where they are looked for, say what a thread knows of itself? What does not is
 * switched off for the process: the core of one release meets the others of its version.
 * tstate: the calling thread's, which holds the GIL; tid: its kernel thread. Returns NULL, or what is off, a phrase for
 * people (static). Context: gil. */
const char *pie_stacks_verify(uintptr_t tstate, int32_t tid);
