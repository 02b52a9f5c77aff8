/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_options;

/* An interpreter runs the program, and takes us in as its guest (launcher/guest/enter.h). name: as --python has it, or
 * NULL for the user's (launcher/python/choice.h). self: path of this program. is_profiled: else it runs as without us.
 * Returns the exit status, after a message; else this process is that interpreter. Context: launcher. */
int pie_run_as_guest(const char *name, const char *self, struct pie_options *options, bool is_profiled);
