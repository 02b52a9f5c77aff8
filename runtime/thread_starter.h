/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The Thread object that the calling thread, which holds the GIL, is about to start: Pythons before 3.12 have no audit
 * event for it. Borrowed reference (struct _object), or NULL. Context: gil. */
struct _object *pie_thread_starter(void);
