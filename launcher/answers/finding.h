/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "launcher/text/style.h"

/* One finding of redundant loads or stores (a row of v_redundancy, v_redundancy_function or v_pair), and how it is
 * printed to people. Context: cli, launcher (at exit). */

struct pie_reader;
struct pie_cursor;

/* Texts are owned and printable; NULL, and NaN for figures: missing. */
struct pie_finding {
    char *kind; /* "load" or "store" */
    char *file, *function, *library, *user_file;
    char *first_file; /* the other line of the pairs */
    char *native_function, *native_library;
    char *category, *evidence, *advice;
    char *sampler, *severity;
    char *first_path, *second_path; /* of a pair: JSON */
    char *again;                    /* what is done a second time: "looked up again" */
    char *gain_within;
    char *verdict,
        *facts; /* of a second run: "confirmed", "refuted" or "undecided", and why; NULL: there was none */
    double rank, line, first_line, user_line;
    double worst_line; /* of a function, whose first line is `line`; else missing */
    double redundant_fraction, fraction_low, fraction_high;
    double wasted_s, wasted_s_low, wasted_s_high, wasted_share; /* a fix may save this */
    double again_s, again_s_low, again_s_high;                  /* was done a second time */
    double bytes, traps;
    double cpu_s;       /* of the line, with all below it in libraries */
    double gain_s;      /* that a fix gains, about, as the second run has it */
    double gain_most_s; /* that a fix within the function gain_within gains at most */
};

/* The columns of the cursor's row that a finding has, by their names. Returns 0, or -ENOMEM and an empty finding. */
int pie_finding_read(struct pie_cursor *row, struct pie_finding *ret_finding);
void pie_finding_finish(struct pie_finding *finding);

bool pie_finding_is(const struct pie_finding *finding, const char *severity);

/* "conv.py:62", the path as pie_text_short_path() has it; heap, NULL without memory. file NULL: "?". */
char *pie_finding_place(const char *file, double line);
/* Of a line that, of a function "conv.py:58 in backprop". */
char *pie_finding_name(const struct pie_finding *finding);
/* "numpy.cos: 200 000 calls, …; a fix gains about 2.1 s, within area() at most 2.6 s"; heap, NULL without a second
 * run. */
char *pie_finding_proof(const struct pie_finding *finding);
/* "looked up again", "computed again", "copied again", "moved again" or "read again": for people who do not know of
 * loads and stores. */
const char *pie_finding_again(const struct pie_finding *finding);
/* More was spent than was done again: the figures are two. */
bool pie_finding_has_two_figures(const struct pie_finding *finding);
/* "97 ± 2 %": how far away the farther end of the interval is; without one "97 %", without a figure "-". */
void pie_finding_fraction(const struct pie_finding *finding, char *buffer, size_t size);

/* What is done with a finding; row: the cursor's, for columns that a finding has not. */
typedef void pie_finding_visit(void *context, const struct pie_finding *finding, struct pie_cursor *row);
/* Calls visit() for each row of a query with the parameter :run and maybe :limit. A row for which there is no memory is
 * left out. Returns 0 or -errno. */
int pie_finding_each(struct pie_reader *reader, const char *sql, int64_t run, int64_t limit,
                     pie_finding_visit *visit, void *context, char **ret_message);

/* The text of a source line without what stands before it (heap, printable), or NULL: not in the profile. */
char *pie_finding_source(struct pie_reader *reader, int64_t run, const char *file, double line);

/* Where findings are printed to. */
struct pie_finding_screen {
    FILE *out;
    struct pie_reader *reader; /* for the source text; NULL: without */
    const char *path;          /* of the profile, for commands to try; NULL: none are named */
    int64_t run;
    size_t columns; /* 0: no limit */
    struct pie_style style;
};

/* Everything about one finding but its paths, over several lines; `number` stands before it. */
void pie_finding_print(const struct pie_finding_screen *screen, const struct pie_finding *finding,
                       size_t number);
