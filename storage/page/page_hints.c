/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "storage/ask/hints.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/page/page_table.h"

/* The hints of the summary, with its text. */

enum { HINTS_BYTES_MAX = 8000 };

struct taking {
    json_t *columns;
    size_t rows;
    bool has_failed;
};

static void take_hint(void *data, const struct pie_hint *hint) {
    struct taking *taking = data;
    json_t *columns = taking->columns;
    bool is_taken = pie_page_append(columns, "kind", pie_page_text(hint->kind)) &&
                    pie_page_append(columns, "share", pie_page_number(hint->share)) &&
                    pie_page_append(columns, "text", pie_page_text(hint->text)) &&
                    pie_page_append(columns, "file", pie_page_text(hint->file)) &&
                    pie_page_append(columns, "line", hint->line ? json_integer(hint->line) : json_null());
    taking->has_failed = taking->has_failed || !is_taken;
    taking->rows++;
}

int pie_page_add_hints(struct pie_page *page, char **ret_message) {
    static const char *const names[] = {"kind", "share", "text", "file", "line", NULL};
    struct taking taking = {.columns = pie_page_columns(names)};
    int r = taking.columns ? pie_hints_each(page->reader, page->run, &taking, take_hint, ret_message)
                           : pie_page_no_memory(ret_message);
    if (r == 0 && taking.has_failed)
        r = pie_page_no_memory(ret_message);
    if (r < 0) {
        json_decref(taking.columns);
        return r;
    }
    struct pie_page_table table = {.columns = taking.columns, .rows = taking.rows, .rows_total = taking.rows};
    return pie_page_table_finish(page, "hints", "weight", HINTS_BYTES_MAX, &table, ret_message);
}
