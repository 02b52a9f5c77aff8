/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Messages to people: one line each, on stderr, beginning "pieprof: ". A message names the failure, its object and a
 * remedy. Only messages, the summary and the results are printed to stderr. Each line is one write(2), so that lines
 * of several processes do not mix. Context: cli, launcher. */

void pie_message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pie_message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last error that was said, without the program's name; "" if there was none. */
const char *pie_message_last(void);
/* Shown only with -v. */
void pie_message_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void pie_messages_set_verbose(int verbose);
