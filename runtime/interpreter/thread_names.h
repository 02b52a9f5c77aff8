/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Names of Python threads. The kernel's name of a thread is the program's in all threads (Python sets none before
 * 3.14); people know their threads by threading.Thread.name. The functions that start a thread are given it
 * (methods.h). */

enum { PIE_THREAD_NAME_BYTES = 48 };

/* Context: launcher (before Python is initialised). */
void pie_thread_names_install(void);

/* Takes the name of the thread that the calling thread is about to make; an empty one if Python does not make it.
 * Context: hook. */
void pie_thread_names_take(char ret_name[PIE_THREAD_NAME_BYTES]);
