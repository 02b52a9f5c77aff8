/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/confirm/confirm.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/confirm/source.h"
#include "launcher/text/messages.h"
#include "storage/read/reader.h"

static const char run_sql[] =
    "SELECT p.id, p.argv, p.executable, (SELECT cpu_s FROM v_run WHERE run = :run) FROM process p"
    " WHERE p.run = :run ORDER BY p.id LIMIT 1";

/* Lines of the user's own: of a library's finding the one that led there. */
static const char lines_sql[] =
    "SELECT file, line FROM (SELECT iif(library IS NULL, file, coalesce(user_file, file)) AS file,"
    " iif(library IS NULL, line, coalesce(user_line, line)) AS line, min(rank) AS rank FROM v_redundancy"
    " WHERE run = :run AND iif(:finding > 0, rank = :finding, severity NOT IN ('maybe', 'reuse')) GROUP BY "
    "1, 2)"
    " WHERE file IS NOT NULL AND line > 0 ORDER BY rank LIMIT :most";

/* Calls take() for each row. Returns 0, or an exit status after a message. */
static int each_row(struct pie_reader *reader, const char *sql, int64_t finding,
                    struct pie_confirm_plan *plan,
                    int (*take)(struct pie_confirm_plan *plan, struct pie_cursor *row)) {
    struct pie_cursor *cursor;
    char *message = NULL;
    int status = 0, r = pie_cursor_open(reader, sql, &cursor, &message);

    if (r < 0)
        return pie_profile_complain(message);
    pie_cursor_bind_int(cursor, ":run", plan->run);
    pie_cursor_bind_int(cursor, ":finding", finding);
    pie_cursor_bind_int(cursor, ":most", PIE_CONFIRM_LINES_MAX);
    while (status == 0 && (r = pie_cursor_next(cursor, &message)) > 0)
        status = take(plan, cursor);
    pie_cursor_close(cursor);
    return r < 0 ? pie_profile_complain(message) : status;
}

/* --- The command line --- */

static int out_of_memory(void) {
    pie_message_error("out of memory");
    return PIE_PROFILE_FAILED;
}

static int say_no_command(void) {
    pie_message_error(
        "the profile does not have the program's command line; give it: pieprof confirm DB -- SCRIPT ARGS");
    return PIE_PROFILE_FAILED;
}

/* words[0] is the interpreter. */
static int take_words(struct pie_confirm_plan *plan, const json_t *argv) {
    size_t count = json_array_size(argv);

    plan->words = calloc(count + 2, sizeof *plan->words);
    if (!plan->words || !(plan->words[0] = strdup(plan->executable)))
        return out_of_memory();
    for (size_t i = 0; i < count; i++) {
        const char *word = json_string_value(json_array_get(argv, i));
        if (!word)
            return say_no_command();
        if (!(plan->words[i + 1] = strdup(word)))
            return out_of_memory();
    }
    return count ? 0 : say_no_command();
}

static int take_run(struct pie_confirm_plan *plan, struct pie_cursor *row) {
    const char *argv = pie_cursor_text(row, 1), *executable = pie_cursor_text(row, 2);

    plan->process = pie_cursor_int(row, 0);
    plan->run_s = pie_cursor_real(row, 3);
    plan->executable = strdup(executable ? executable : "python3");
    if (!plan->executable)
        return out_of_memory();
    if (plan->words)
        return 0;
    json_t *words = argv ? json_loads(argv, 0, NULL) : NULL;
    int status = words ? take_words(plan, words) : say_no_command();
    json_decref(words);
    return status;
}

static int take_script(struct pie_confirm_plan *plan, char **script) {
    size_t count = 0;

    while (script[count])
        count++;
    plan->words = calloc(count + 2, sizeof *plan->words);
    for (size_t i = 0; plan->words && i < count; i++)
        if (!(plan->words[i + 1] = strdup(script[i])))
            return out_of_memory();
    return plan->words ? 0 : out_of_memory();
}

/* A word that begins with a dash is Python's to understand. */
static int check_script(const struct pie_confirm_plan *plan) {
    const char *script = plan->words[1];

    if (*script == '-' || access(script, R_OK) == 0)
        return 0;
    pie_message_error(
        "%s: %s; go to the folder in which it was profiled, or give pieprof confirm DB -- SCRIPT ARGS",
        script, strerror(errno));
    return PIE_PROFILE_FAILED;
}

/* --- The lines --- */

static int take_line(struct pie_confirm_plan *plan, struct pie_cursor *row) {
    struct pie_confirm_line *line = &plan->board->lines[plan->board->n_lines];
    const char *file = pie_cursor_text(row, 0);

    if (strlen(file) >= sizeof line->file || plan->board->n_lines >= PIE_CONFIRM_LINES_MAX)
        return 0;
    strcpy(line->file, file);
    line->line = (int32_t)pie_cursor_int(row, 1);
    plan->board->n_lines++;
    return 0;
}

static int say_no_finding(int64_t finding) {
    if (finding > 0)
        pie_message_error("the run has no finding %lld; pieprof query DB redundancy lists them",
                          (long long)finding);
    else
        pie_message_error(
            "the run has no finding of weight to confirm; the question \"redundancy\" lists what may be "
            "waste, and --finding N counts one of it");
    return PIE_PROFILE_FAILED;
}

int pie_confirm_plan_make(struct pie_reader *reader, int64_t finding, char **script,
                          struct pie_confirm_plan *plan) {
    int status = each_row(reader, lines_sql, finding, plan, take_line);

    if (status == 0 && plan->board->n_lines == 0)
        status = say_no_finding(finding);
    if (status == 0 && script)
        status = take_script(plan, script);
    if (status == 0)
        status = each_row(reader, run_sql, 0, plan, take_run);
    if (status == 0 && script && !(plan->words[0] = strdup(plan->executable)))
        status = out_of_memory();
    if (status == 0)
        status = pie_confirm_interpreter_check(plan);
    if (status == 0)
        status = check_script(plan);
    return status == 0 ? pie_confirm_source_check(reader, plan) : status;
}

void pie_confirm_plan_finish(struct pie_confirm_plan *plan) {
    for (char **word = plan->words; word && *word; word++)
        free(*word);
    free(plan->words);
    free(plan->executable);
}
