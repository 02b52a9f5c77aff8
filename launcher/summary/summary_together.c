/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_together.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "storage/read/reader.h"

enum { LINES, SHARE, WASTED_S, LOW_S, HIGH_S, IS_SHARED, COLUMNS };
static const char *const names[COLUMNS] = {"all_lines", "all_share",  "all_s",
                                           "all_s_low", "all_s_high", "is_shared"};

/* Returns false if one of them is not there. */
static bool read_columns(struct pie_cursor *row, double figures[COLUMNS]) {
    int found = 0;
    for (int column = 0; column < pie_cursor_column_count(row); column++)
        for (int i = 0; i < COLUMNS; i++)
            if (strcmp(pie_cursor_column_name(row, column), names[i]) == 0 &&
                pie_cursor_type(row, column) != PIE_VALUE_NULL) {
                figures[i] = pie_cursor_real(row, column);
                found++;
            }
    return found == COLUMNS;
}

char *pie_summary_together_text(const struct pie_finding_screen *screen, struct pie_cursor *row) {
    double figures[COLUMNS];
    char *text = NULL;

    if (!read_columns(row, figures))
        return NULL;
    if (asprintf(&text, "%.0f lines together: %.0f %% of the run wasted (%.2f s, %.2f to %.2f s)%s",
                 figures[LINES], 100 * figures[SHARE], figures[WASTED_S], figures[LOW_S], figures[HIGH_S],
                 figures[IS_SHARED] != 0 ? "; time that they share counts once" : "") < 0)
        return NULL;
    char *cut = pie_text_cut_end(text, screen->columns);
    free(text);
    return cut;
}
