/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/output.h"
#include "launcher/answers/profile.h"
#include "launcher/answers/running.h"
#include "launcher/command/command.h"
#include "launcher/text/text.h"
#include "storage/ask/query.h"
#include "storage/read/reader.h"

/* For those who maintain pieprof: how a profile was measured, and what its file is filled with. Each section is one
 * statement. */
static const struct {
    const char *title, *sql;
} sections[] = {
    {"How time and accesses were sampled",
     "select id as process, pid, clock, clock_note, sampler, sampler_note, 1e9 / period_ns as rate_hz, cause,"
     " exit_status from process order by id"},
    {"Counters (is_drop: something was lost)",
     "select name, sum(value) as value, max(is_drop) as is_drop, count(*) as processes from counter"
     " where substr(name, 1, 6) <> 'table_' group by name order by is_drop desc, name"},
    {"Fill of tables in memory, of the process where it is greatest",
     "select substr(f.name, 12) as name, max(100.0 * f.value / s.value) as fill_percent,"
     " f.value as fill_bytes, s.value as size_bytes, count(*) as processes from counter f"
     " join counter s on s.process = f.process and s.name = 'table_size_' || substr(f.name, 12)"
     " where substr(f.name, 1, 11) = 'table_fill_' group by f.name order by fill_percent desc, name"},
    {"Overhead", "select collector, sum(cpu_ns) / 1e9 as cpu_s, count(*) as processes from overhead"
                 " group by collector order by cpu_s desc"},
};

static int print(struct pie_reader *reader, const struct pie_output *output, const char *title,
                 const char *sql) {
    struct pie_query query;
    char *message = NULL;
    int r = pie_query_open(reader, sql, 0, &query, &message);
    if (r < 0)
        return pie_profile_complain(message);
    struct pie_answer answer = {.query = &query, .reader = reader, .words = title};
    if (output->is_for_people)
        printf("%s\n", title);
    r = output->print(stdout, &answer, &message);
    if (output->is_for_people)
        fputs("\n", stdout);
    pie_query_close(&query);
    return r < 0 ? pie_profile_complain(message) : 0;
}

/* "select 'node' as name, count(*) as rows from node union all …" (heap), or NULL. */
static char *count_rows(struct pie_reader *reader, char **ret_message) {
    struct pie_cursor *cursor;
    char *sql = NULL;
    int r = pie_cursor_open(reader, "select name from sqlite_schema where type = 'table' order by name",
                            &cursor, ret_message);
    if (r < 0)
        return NULL;
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        const char *name = pie_cursor_text(cursor, 0);
        char *longer;
        if (asprintf(&longer, "%s%sselect '%s' as name, count(*) as rows from \"%s\"", sql ? sql : "",
                     sql ? " union all " : "", name, name) < 0)
            longer = NULL;
        free(sql);
        sql = longer;
    }
    pie_cursor_close(cursor);
    return sql;
}

static int print_rows_of_tables(struct pie_reader *reader, const struct pie_output *output) {
    char *message = NULL, *sql = count_rows(reader, &message);
    if (!sql)
        return pie_profile_complain(message ? message : strdup("out of memory"));
    int status = print(reader, output, "Rows of tables", sql);
    free(sql);
    return status;
}

int pie_cmd_debug(int argc, char **argv) {
    static const struct option names[] = {{"json", no_argument, NULL, 'j'}, {0}};
    const struct pie_output *output = pie_output_find("table");
    pie_text_set_locale();
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == '?')
            return pie_command_bad_option(argc, argv);
        output = pie_output_find("json");
    }
    if (argc - optind > 1)
        return pie_command_bad_words("one process or file at a time");
    char *path = pie_running_find("debug", argc > optind ? argv[optind] : PIE_PROFILE_DEFAULT);
    struct pie_reader *reader = path ? pie_profile_open(path) : NULL;
    free(path);
    int status = reader ? 0 : PIE_PROFILE_FAILED;
    for (size_t i = 0; status == 0 && i < sizeof sections / sizeof *sections; i++)
        status = print(reader, output, sections[i].title, sections[i].sql);
    if (status == 0)
        status = print_rows_of_tables(reader, output);
    pie_reader_close(reader);
    return pie_profile_close_output(stdout, "the answer", status);
}
