/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/doctor/output.h"
#include "launcher/text/style.h"
#include "launcher/answers/table.h"
#include "launcher/text/text.h"

enum { COLUMNS_OF_A_FILE = 100, INDENT = 10 };

static int add_probe(struct pie_table *table, const struct pie_probe *probe) {
    const char *const cells[] = {probe->name, pie_probe_status_name(probe->status), probe->detail};
    int r = pie_table_add_row(table);
    for (size_t i = 0; i < 3 && r == 0; i++) {
        char *text = pie_text_printable(cells[i]);
        pie_table_take_cell(table, i, text);
        r = text ? 0 : -ENOMEM;
    }
    return r;
}

static int print_table(const struct pie_doctor_findings *findings, FILE *out) {
    static const char *const names[] = {"what", "state", "found"};
    struct pie_table table;
    int r = pie_table_init(&table, 3);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 3 && r == 0; i++)
        r = pie_table_set_column(&table, i, names[i], PIE_TABLE_TEXT);
    for (size_t i = 0; i < findings->count && r == 0; i++)
        r = add_probe(&table, &findings->probes[i]);
    if (r == 0) {
        pie_table_fit(&table, pie_text_columns(out), 3);
        r = pie_table_write(&table, out, pie_text_is_colourful(out));
    }
    pie_table_finish(&table);
    return r;
}

/* A label, then text broken at blanks, its lines below each other. */
static void print_wrapped(FILE *out, const char *label, const char *text, size_t columns) {
    size_t column = INDENT;
    fprintf(out, "  %-*s", INDENT - 2, label);
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        if (column + length > columns && column > INDENT) {
            fprintf(out, "\n%*s", INDENT, "");
            column = INDENT;
        }
        fprintf(out, "%.*s%s", (int)length, word, word[length] ? " " : "");
        column += length + 1;
        word += length;
        word += strspn(word, " ");
    }
    fputc('\n', out);
}

static void print_gap(FILE *out, const struct pie_probe *probe, size_t columns) {
    struct pie_style style = pie_style_for(out);
    fprintf(out, "\n%s%s: %s%s\n", style.bold, probe->name, pie_probe_status_name(probe->status),
            style.plain);
    print_wrapped(out, "found", probe->detail, columns);
    print_wrapped(out, "costs", probe->cost, columns);
    if (probe->remedy)
        print_wrapped(out, "mend by", probe->remedy, columns);
}

bool pie_doctor_has_time(const struct pie_doctor_findings *findings) {
    return findings->has_python && findings->choice.clock != PIE_CLOCK_NONE;
}

static void print_choice(const struct pie_doctor_findings *findings, FILE *out) {
    const struct pie_probe_choice *choice = &findings->choice;
    if (!findings->has_python) {
        fprintf(out, "\nNothing can be profiled here: there is no Python for it.\n");
        return;
    }
    if (choice->clock == PIE_CLOCK_NONE)
        fprintf(out, "\nTime cannot be profiled here: no clock can be had.\n");
    else
        fprintf(out, "\nTime can be profiled here, by the clock \"%s\"%s.\n", pie_clock_name(choice->clock),
                choice->clock == PIE_CLOCK_PERF ? ", the best there is" : "");
    if (choice->accesses == PIE_ACCESS_NONE)
        fprintf(out, "Redundant loads and stores cannot be watched for here.\n");
    else
        fprintf(out, "Redundant loads and stores can be watched for here, by the sampler \"%s\".\n",
                pie_access_sampler_name(choice->accesses));
}

int pie_doctor_print_text(const struct pie_doctor_findings *findings, FILE *out) {
    size_t columns = pie_text_columns(out);
    int r = print_table(findings, out);
    if (r < 0)
        return r;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->probes[i].status != PIE_PROBE_OK)
            print_gap(out, &findings->probes[i], columns ? columns : COLUMNS_OF_A_FILE);
    print_choice(findings, out);
    return 0;
}
