/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/report_findings.h"

#include "storage/read/reader.h"

/* Of the low ones those that cost most are enough for whoever did not ask for all. */
enum { LOW_SHOWN = 5 };

static const char findings_sql[] =
    "SELECT * FROM v_redundancy WHERE run = :run AND severity IN ('high', 'low', 'maybe')"
    " ORDER BY rank";

struct section {
    const struct pie_finding_screen *screen;
    size_t count, low_count, left_out;
    bool all;
};

static void print_heading(struct section *section, bool is_low) {
    const struct pie_style *style = &section->screen->style;
    fprintf(section->screen->out, "\n%s%s%s\n", style->bold,
            is_low ? "Redundant loads and stores of less weight, or less sure"
                   : "Redundant loads and stores (! beside the source below)",
            style->plain);
}

static void print_finding(void *context, const struct pie_finding *finding, struct pie_cursor *row) {
    struct section *section = context;
    bool is_low = !pie_finding_is(finding, "high");
    (void)row;
    section->low_count += is_low;
    if (is_low && section->low_count > LOW_SHOWN && !section->all) {
        section->left_out++;
        return;
    }
    if (section->count == 0 || (is_low && section->low_count == 1))
        print_heading(section, is_low);
    else
        fputc('\n', section->screen->out);
    pie_finding_print(section->screen, finding, ++section->count);
}

int pie_report_findings_print(const struct pie_finding_screen *screen, bool all, char **ret_message) {
    struct section section = {.screen = screen, .all = all};
    int r =
        pie_finding_each(screen->reader, findings_sql, screen->run, 0, print_finding, &section, ret_message);
    if (r < 0)
        return r;
    if (section.left_out > 0)
        fprintf(screen->out, "%zu more: --all shows them\n", section.left_out);
    return r;
}
