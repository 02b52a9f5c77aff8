/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A library whose constructor allocates in every way, before the program's own constructors run. */

/* What it got and wrote to, for the program to look at, resize and free. */
extern char *early_blocks[4];

/* Also a thread of it allocated and ended. */
extern int early_thread_ran;
