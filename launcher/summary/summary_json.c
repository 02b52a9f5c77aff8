/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_json.h"

#include <errno.h>
#include <stdlib.h>

#include "launcher/answers/held.h"
#include "launcher/answers/json_out.h"
#include "launcher/answers/output.h"
#include "launcher/text/text.h"
#include "storage/ask/hints.h"
#include "storage/ask/query.h"
#include "storage/base/message.h"

/* What a program needs to know what to change, and what to ask next. */
static const struct {
    const char *name, *question;
    bool is_of_waiting; /* only where waiting for known reasons matters */
} sections[] = {
    {.name = "findings", .question = "top 10 redundancy"},
    {.name = "own lines", .question = "top 10 own lines"},
    {.name = "hot lines", .question = "top 10 hot lines"},
    {.name = "own functions", .question = "top 10 own functions"},
    {.name = "tree", .question = "tree"},
    {.name = "waiting", .question = "top 10 waiting"},
    {.name = "wait causes", .question = "top 10 wait causes", .is_of_waiting = true},
    {.name = "tasks", .question = "top 10 tasks"},
    {.name = "worked for", .question = "top 10 worked for"},
    {.name = "garbage collection", .question = "top 10 garbage collection"},
    {.name = "libraries", .question = "top 10 libraries"},
    {.name = "heap", .question = "heap"},
    {.name = "memory", .question = "top 10 memory"},
    {.name = "peak", .question = "top 10 peak"},
    {.name = "leaks", .question = "top 10 leaks"},
    {.name = "growth", .question = "top 10 growth"},
    {.name = "copies", .question = "top 10 copies"},
    {.name = "needless copies", .question = "top 10 needless copies"},
    {.name = "traced calls", .question = "top 10 learned calls"},
    {.name = "threads", .question = "top 10 threads"},
    {.name = "processes", .question = "top 50 processes"},
    {.name = "overhead", .question = "overhead"},
    {.name = "drops", .question = "drops"},
    {.name = "environment", .question = "environment"},
};

static int print_section(struct pie_held *held, const struct pie_answer *summary, size_t i,
                         char **ret_message) {
    struct pie_query query;
    const struct pie_answer answer = {
        .query = &query, .reader = summary->reader, .words = sections[i].question};
    int r = pie_query_open(summary->reader, sections[i].question, summary->query->run, &query, ret_message);
    if (r < 0)
        return r;
    fprintf(held->text, "%s\n  \"%s\": ", i ? "," : "", sections[i].name);
    r = pie_json_print_part(held, &answer, ret_message);
    pie_query_close(&query);
    return r;
}

struct telling {
    FILE *out;
    size_t count;
};

static void print_hint(void *data, const struct pie_hint *hint) {
    struct telling *telling = data;
    char *clean = pie_text_printable(hint->text);
    const char *const texts[][2] = {
        {"kind", hint->kind}, {"text", clean}, {"file", hint->file}, {NULL, NULL}};
    fputs(telling->count++ ? ",\n  " : "\n  ", telling->out);
    pie_json_print_object(telling->out, texts, "line", hint->line);
    free(clean);
}

static int print_parts(struct pie_held *held, const struct pie_answer *answer, char **ret_message) {
    struct telling telling = {.out = held->text};
    bool waiting_matters = false;
    fputs(", \"hints\": [", held->text);
    int r = pie_hints_each(answer->reader, answer->query->run, &telling, print_hint, ret_message);
    fputs("\n], \"sections\": {", held->text);
    if (r == 0)
        r = pie_hints_waiting_matters(answer->reader, answer->query->run, &waiting_matters, ret_message);
    for (size_t i = 0; i < sizeof sections / sizeof *sections && r == 0; i++)
        if (waiting_matters || !sections[i].is_of_waiting)
            r = print_section(held, answer, i, ret_message);
    fputs("\n}", held->text);
    return r;
}

int pie_summary_json_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    return pie_json_print_with(out, answer, print_parts, ret_message);
}
