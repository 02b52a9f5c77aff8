/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Formats one line for people into *ret_message (heap, the caller frees it; NULL when memory is short; not written to
 * when ret_message is NULL) and returns `error` unchanged. Context: cli, drain. */
int pie_message(int error, char **ret_message, const char *format, ...) __attribute__((format(printf, 3, 4)));
