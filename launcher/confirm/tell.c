/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "launcher/confirm/confirm.h"

#include <stdlib.h>

#include "launcher/answers/finding.h"
#include "launcher/answers/profile.h"
#include "launcher/confirm/source.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/read/reader.h"

/* The program's own output is on stdout; what is found out is said on stderr, as the summary of a profile is. */

enum { INDENT = 4 };

/* Each line of own code that was counted has one verdict, which may be about library code below it. */
static const char verdicts_sql[] =
    "SELECT *, iif(library IS NULL, file, coalesce(user_file, file)) AS counted_file,"
    " iif(library IS NULL, line, coalesce(user_line, line)) AS counted_line"
    " FROM v_redundancy WHERE run = :run AND verdict IS NOT NULL ORDER BY rank";

void pie_confirm_tell_cost(const struct pie_confirm_plan *plan) {
    uint32_t lines = plan->board->n_lines;
    const char *functions = plan->slows_functions ? "functions with " : "";
    char which[32] = "that line";

    if (lines != 1)
        snprintf(which, sizeof which, "%s of the %u lines", plan->slows_functions ? "one" : "each", lines);
    fprintf(stderr,
            "pieprof: %s runs again, with all that it does to files and others; the profiled run took %.3g s "
            "of CPU time, and %s%s take%s up to 50 times as long\n",
            plan->words[1], plan->run_s, functions, which, plan->slows_functions ? "" : "s");
}

static bool is_counted(const struct pie_confirm_board *board, const char *file, int64_t line) {
    for (uint32_t i = 0; i < board->n_lines; i++)
        if (file && board->lines[i].has_code && board->lines[i].line == line &&
            strcmp(board->lines[i].file, file) == 0)
            return true;
    return false;
}

/* conv.py:62: confirmed: slice underutilization. The place is that of the calls that were counted. */
static void print_verdict(const struct pie_finding *finding, size_t columns) {
    bool is_below = finding->library && finding->user_file;
    char *place = is_below ? pie_finding_place(finding->user_file, finding->user_line)
                           : pie_finding_place(finding->file, finding->line);
    char *proof = pie_finding_proof(finding);

    const char *category = finding->category ? finding->category : "category unknown";
    bool is_same = strcmp(category, finding->verdict) == 0; /* undecided */
    fprintf(stderr, "%s: %s%s%s\n%*s", place ? place : "?", finding->verdict, is_same ? "" : ": ",
            is_same ? "" : category, INDENT, "");
    pie_wrap_print(stderr, proof ? proof : "", INDENT, INDENT, columns);
    free(place);
    free(proof);
}

static int column_of(struct pie_cursor *row, const char *name) {
    int column = pie_cursor_column_count(row) - 1;

    while (column > 0 && strcmp(pie_cursor_column_name(row, column), name) != 0)
        column--;
    return column;
}

static void print_row(void *board, const struct pie_finding *finding, struct pie_cursor *row) {
    if (is_counted(board, pie_cursor_text(row, column_of(row, "counted_file")),
                   pie_cursor_int(row, column_of(row, "counted_line"))))
        print_verdict(finding, pie_text_columns(stderr));
}

int pie_confirm_tell(const char *path, const struct pie_confirm_plan *plan) {
    struct pie_reader *reader = pie_profile_open_written(path);
    char *message = NULL;

    if (!reader)
        return PIE_PROFILE_FAILED;
    int r = pie_finding_each(reader, verdicts_sql, plan->run, 0, print_row, plan->board, &message);
    pie_reader_close(reader);
    return r < 0 ? pie_profile_complain(message) : 0;
}

/* A program that was cut short, or ran elsewhere too, says itself why. */
void pie_confirm_tell_absent(const struct pie_confirm_board *board, int status) {
    bool is_explained = status != 0 || board->has_others || board->forks > 0;

    for (uint32_t i = 0; i < board->n_lines; i++)
        if (!board->lines[i].has_code && pie_confirm_source_is_new(board, i))
            pie_message_warning(
                "nothing of %s, in which findings are, was run, so none of its calls were counted%s",
                board->lines[i].file,
                is_explained ? ""
                             : "; if the program was moved or renamed, profile it again where it "
                               "is now, or run what was profiled: pieprof confirm DB -- SCRIPT ARGS");
}

void pie_confirm_tell_gaps(const struct pie_confirm_board *board, int status) {
    if (status != 0)
        pie_message_warning("the program ended with status %d: what it did not reach was not counted",
                            status);
    if (board->has_others)
        pie_message_warning(
            "the program traces or profiles itself: while it does, its calls were not counted");
    if (board->is_short)
        pie_message_warning(
            "not all was counted: too many callees, too deep a recursion, or memory was short");
    if (board->forks > 0)
        pie_message_warning("the program forked %u time%s: what its children did was not counted",
                            board->forks, board->forks == 1 ? "" : "s");
}
