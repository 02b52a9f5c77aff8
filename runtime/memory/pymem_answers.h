/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What CPython says of its own allocators when it is asked: their name, and its table of small blocks. It compares the
 * addresses of its own functions with those that are installed, and knows no hooks; so we define the two functions that
 * do, in place of CPython's. For a shared libpython and for extension modules ours come first; a static one is linked
 * from a copy in which its own are weak (scripts/python-archive). */

/* originals: PyMemAllocatorEx[3], the allocators below our hooks by PyMemAllocatorDomain; a hook has the one below it
 * as its ctx. Context: launcher (before any hook is set). */
void pie_pymem_answers_install(const void *originals);

/* In a shared libpython that was bound or optimised as a whole, its own calls do not come to us: there
 * sys._debugmallocstats() is wrapped as a method. Does nothing elsewhere. Context: gil (main thread). */
void pie_pymem_answers_in_sys(void);
