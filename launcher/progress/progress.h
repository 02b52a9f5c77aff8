/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* One line about a run while it runs: elapsed time, samples, resident memory, overhead. On a terminal it has the last
 * row for itself, and is written anew about once a second; elsewhere a line is printed every ten seconds. The figures
 * are those of this process, as they are written to the profile. */

struct pie_sink;

/* Remembers whether standard error is a terminal. is_asked: by --progress, for a terminal only; is_verbose: by -v.
 * Context: launcher (before Python starts). */
void pie_progress_prepare(bool is_asked, bool is_verbose);

/* Shows the line whenever the sink has been given a second's figures, until it is closed. Once in a process; children
 * have no line. Context: drain. */
void pie_progress_watch(struct pie_sink *sink);

/* Leaves nothing of it on the terminal. Before anything is printed at the end; idempotent. Context: launcher, drain. */
void pie_progress_end(void);
