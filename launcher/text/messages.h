/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the program says to people: one line each, on stderr, beginning "pieprof: ". Say what failed, on what,
 * and what can be done about it. Nothing else in the program prints to stderr but the summary and the
 * results. Each line is one write(2), so that lines of several processes do not mix. Context: cli, launcher. */

void pie_message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pie_message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last error that was said, without the program's name; "" if there was none. */
const char *pie_message_last(void);
/* Shown only with -v. */
void pie_message_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void pie_messages_set_verbose(int verbose);
