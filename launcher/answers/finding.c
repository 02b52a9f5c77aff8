/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/finding.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "storage/read/reader.h"

struct field {
    const char *name; /* of the column */
    size_t offset;
    bool is_number;
};

#define TEXT(name) {#name, offsetof(struct pie_finding, name), false}
#define NUMBER(name) {#name, offsetof(struct pie_finding, name), true}

static const struct field fields[] = {
    TEXT(kind),
    TEXT(file),
    TEXT(function),
    TEXT(library),
    TEXT(user_file),
    TEXT(first_file),
    TEXT(native_function),
    TEXT(native_library),
    TEXT(category),
    TEXT(evidence),
    TEXT(advice),
    TEXT(sampler),
    TEXT(severity),
    TEXT(first_path),
    TEXT(second_path),
    TEXT(verdict),
    TEXT(facts),
    TEXT(again),
    TEXT(gain_within),
    NUMBER(rank),
    NUMBER(line),
    NUMBER(first_line),
    NUMBER(user_line),
    NUMBER(worst_line),
    NUMBER(redundant_fraction),
    NUMBER(fraction_low),
    NUMBER(fraction_high),
    NUMBER(wasted_s),
    NUMBER(wasted_s_low),
    NUMBER(wasted_s_high),
    NUMBER(wasted_share),
    NUMBER(cpu_s),
    NUMBER(again_s),
    NUMBER(again_s_low),
    NUMBER(again_s_high),
    NUMBER(bytes),
    NUMBER(traps),
    NUMBER(gain_s),
    NUMBER(gain_most_s),
};

enum { FIELDS = sizeof fields / sizeof *fields };

static char **text_of(struct pie_finding *finding, const struct field *field) {
    return (char **)((char *)finding + field->offset);
}

static double *number_of(struct pie_finding *finding, const struct field *field) {
    return (double *)((char *)finding + field->offset);
}

static const struct field *find_field(const char *name) {
    for (size_t i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    return NULL;
}

int pie_finding_read(struct pie_cursor *row, struct pie_finding *ret_finding) {
    struct pie_finding finding = {0};
    int r = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        if (fields[i].is_number)
            *number_of(&finding, &fields[i]) = NAN;
    }
    for (int i = 0; i < pie_cursor_column_count(row) && r == 0; i++) {
        const struct field *field = find_field(pie_cursor_column_name(row, i));
        if (!field || pie_cursor_type(row, i) == PIE_VALUE_NULL)
            continue;
        if (field->is_number) {
            *number_of(&finding, field) = pie_cursor_real(row, i);
        } else {
            char **text = text_of(&finding, field);
            free(*text); /* of a second column of this name */
            *text = pie_text_printable(pie_cursor_text(row, i));
            r = *text ? 0 : -ENOMEM;
        }
    }
    if (r < 0)
        pie_finding_finish(&finding);
    *ret_finding = finding;
    return r;
}

void pie_finding_finish(struct pie_finding *finding) {
    for (size_t i = 0; i < FIELDS; i++) {
        if (!fields[i].is_number)
            free(*text_of(finding, &fields[i]));
    }
    *finding = (struct pie_finding){0};
}

int pie_finding_each(struct pie_reader *reader, const char *sql, int64_t run, int64_t limit,
                     pie_finding_visit *visit, void *context, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(reader, sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    pie_cursor_bind_int(cursor, ":limit", limit);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        struct pie_finding finding;
        if (pie_finding_read(cursor, &finding) < 0)
            continue;
        visit(context, &finding, cursor);
        pie_finding_finish(&finding);
    }
    pie_cursor_close(cursor);
    return r;
}

bool pie_finding_is(const struct pie_finding *finding, const char *severity) {
    return finding->severity && strcmp(finding->severity, severity) == 0;
}

char *pie_finding_place(const char *file, double line) {
    char *place;
    int size = !file         ? asprintf(&place, "?")
               : isnan(line) ? asprintf(&place, "%s", pie_text_short_path(file))
                             : asprintf(&place, "%s:%.0f", pie_text_short_path(file), line);
    return size < 0 ? NULL : place;
}

char *pie_finding_name(const struct pie_finding *finding) {
    char *place = pie_finding_place(finding->file, finding->line), *name = NULL;
    if (isnan(finding->worst_line) || !finding->function)
        return place;
    if (place && asprintf(&name, "%s in %s", place, finding->function) < 0)
        name = NULL;
    free(place);
    return name;
}

/* What the fix gains, behind the facts: "; a fix gains about 2.1 s, within area() at most 2.6 s". */
static char *gain_text(const struct pie_finding *finding) {
    const char *within = finding->gain_within;
    char *text = NULL;
    int size;

    if (strcmp(finding->verdict, "refuted") == 0 || !(finding->gain_s > 0)) /* NaN: no */
        return strdup("");
    if (!within || isnan(finding->gain_most_s))
        size = asprintf(&text, "; a fix gains about %.3g s", finding->gain_s);
    else
        size = asprintf(&text, "; a fix gains about %.3g s, within %s%s at most %.3g s", finding->gain_s,
                        within, within[strlen(within) - 1] == '>' ? "" : "()", finding->gain_most_s);
    return size < 0 ? NULL : text;
}

char *pie_finding_proof(const struct pie_finding *finding) {
    char *text = NULL;
    if (!finding->verdict || !finding->facts)
        return NULL;
    char *gain = gain_text(finding);
    int size = gain ? asprintf(&text, "%s%s", finding->facts, gain) : -1;
    free(gain);
    return size < 0 ? NULL : text;
}

/* Pairs have no column for it. */
const char *pie_finding_again(const struct pie_finding *finding) {
    bool is_load = finding->kind && strcmp(finding->kind, "load") == 0;
    return finding->again ? finding->again : is_load ? "looked up again" : "computed again";
}

bool pie_finding_has_two_figures(const struct pie_finding *finding) {
    return finding->wasted_s - finding->again_s >= 0.005; /* NaN: no */
}

void pie_finding_fraction(const struct pie_finding *finding, char *buffer, size_t size) {
    double percent = 100 * finding->redundant_fraction;
    double away = fmax(100 * finding->fraction_high - percent, percent - 100 * finding->fraction_low);
    if (isnan(percent))
        snprintf(buffer, size, "-");
    else if (isnan(away))
        snprintf(buffer, size, "%.0f %%", percent);
    else
        snprintf(buffer, size, "%.0f ± %.0f %%", percent, ceil(away - 1e-9));
}
