/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Text for people. The contents of a file are arbitrary, and text for a terminal must not control it. Context: cli,
 * launcher (at exit). */

/* Lets wide characters be measured: the user's locale, or C.UTF-8 where that one knows only ASCII. It is loaded when
 * the first character that is not ASCII is measured: its files take fifteen system calls. */
void pie_text_set_locale(void);

/* A copy (heap, or NULL) in which control characters, direction marks and invalid bytes are replaced; tabs become
 * blanks, ends of lines an arrow. */
char *pie_text_printable(const char *text);

/* Columns that text takes on a terminal. */
size_t pie_text_width(const char *text);
/* A copy (heap, or NULL) of at most `width` columns; "…" marks a cut at the end or at the beginning. */
char *pie_text_cut_end(const char *text, size_t width);
char *pie_text_cut_start(const char *text, size_t width);

/* "980 B", "1.20 kB", "48.0 MB", "512 GB": three digits; 1 MB is 1 000 000 bytes. */
enum { PIE_TEXT_BYTES_SIZE = 32 };
void pie_text_bytes(double bytes, char buffer[PIE_TEXT_BYTES_SIZE]);

/* "812 ns", "57.8 us", "1.20 ms", "3.41 s": three digits. */
enum { PIE_TEXT_SECONDS_SIZE = 32 };
void pie_text_seconds(double seconds, char buffer[PIE_TEXT_SECONDS_SIZE]);

/* "12.34 s", "3:22 min", "1:02 h": the time since something began; digits: of the first form's fraction. */
void pie_text_elapsed(double seconds, int digits, char buffer[PIE_TEXT_SECONDS_SIZE]);

/* The path as people would write it here: relative if it is below the working directory. Returns a pointer into it. */
const char *pie_text_short_path(const char *path);

/* Columns of the terminal that `out` is, or what COLUMNS says; 0: neither, there is no limit. */
size_t pie_text_columns(FILE *out);
/* Is `out` a terminal whose user has nothing against colours (NO_COLOR, FORCE_COLOR, TERM)? */
bool pie_text_is_colourful(FILE *out);
