/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/output.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launcher/text/text.h"
#include "storage/ask/query.h"
#include "storage/ask/questions.h"

static const struct pie_output outputs[] = {
    {"table", true, pie_table_print},
    {"json", false, pie_json_print},
    {"csv", false, pie_csv_print},
};

const struct pie_output *pie_output_find(const char *name) {
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (strcmp(outputs[i].name, name) == 0)
            return &outputs[i];
    }
    return NULL;
}

/* As clocks of this machine's zone have it. */
static void print_time(FILE *out, const char *format, int64_t time_ns) {
    time_t time = (time_t)(time_ns / 1000000000);
    struct tm date;
    char text[64];
    if (localtime_r(&time, &date) && strftime(text, sizeof text, format, &date) > 0)
        fputs(text, out);
}

static void print_period(FILE *out, const struct pie_query *query) {
    bool is_long = query->period_to_ns - query->period_from_ns > INT64_C(86400000000000);
    print_time(out, "%Y-%m-%d %H:%M:%S", query->period_from_ns);
    fputs(" to ", out);
    print_time(out, is_long ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", query->period_to_ns);
}

void pie_output_print_place(FILE *out, const struct pie_query *query) {
    const struct pie_place *place = &query->place;
    char *name = query->place_name ? pie_text_printable(query->place_name) : NULL;
    if (query->period_to_ns)
        print_period(out, query);
    if (!name) {
        fputs(query->period_to_ns ? "\n" : "", out);
        return;
    }
    fprintf(out, "%s %s %s", query->period_to_ns ? ", in" : "In", pie_place_kind_name(place->kind), name);
    if (query->place_line > 0)
        fprintf(out, ":%lld", (long long)query->place_line);
    for (int kind = PIE_PLACE_FILE; kind < PIE_PLACE_KINDS; kind++) {
        const char *other = pie_place_kind_name((enum pie_place_kind)kind);
        if (kind != (int)place->kind && place->kinds & 1u << kind)
            fprintf(out, "; it is a %s too: \"in %s %s\"", other, other, name);
    }
    fputs("\n", out);
    free(name);
}

void pie_output_print_more(FILE *out, const struct pie_answer *answer, size_t printed, size_t more) {
    char *question = pie_text_printable(answer->words);
    fprintf(out, "%zu of %zu: \"top all %s\" tells the rest\n", printed, printed + more,
            question ? question : "…");
    free(question);
}

/* The file has no views: they are the reader's. */
static const char *why_of_sql(const struct pie_query *query) {
    char *sql = pie_query_sql(query);
    bool is_about_names = sql && (strcasestr(sql, "sqlite_master") || strcasestr(sql, "sqlite_schema"));
    free(sql);
    return is_about_names ? "\"schema\" lists the views and tables" : NULL;
}

void pie_output_print_nothing(FILE *out, const struct pie_query *query) {
    char *name = query->place_name ? pie_text_printable(query->place_name) : NULL;
    const char *why = query->question ? query->question->when_empty : why_of_sql(query);
    fprintf(out, "nothing found%s%s", name ? " in " : "", name ? name : "");
    if (name && query->place_line > 0)
        fprintf(out, ":%lld", (long long)query->place_line);
    fprintf(out, "%s%s\n", why ? "; " : "", why ? why : "");
    free(name);
}
