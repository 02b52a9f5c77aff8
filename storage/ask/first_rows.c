/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/first_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "storage/ask/questions.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

/* As many notable rows as are shown are enough, wherever they stand; with fewer, all rows are needed. */
#define NOTABLE                                                                                              \
    "(SELECT nth FROM %1$s WHERE run = :run AND nth > 0 AND (samples >= :samples OR wait_ns >= :wait)"       \
    " ORDER BY nth LIMIT :shown)"
#define STATEMENT                                                                                            \
    "SELECT count(*), (SELECT iif(count(*) < :shown, 0, max(nth)) FROM " NOTABLE ") FROM %1$s"               \
    " WHERE run = :run AND nth > 0"

int pie_first_rows_open(struct pie_reader *reader, const struct pie_question *question, int64_t run,
                        int64_t shown, struct pie_first_rows *ret_rows, char **ret_message) {
    struct pie_first_rows rows = {0};
    char *sql = NULL;
    if (asprintf(&sql, STATEMENT, question->sums) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = pie_cursor_open_once(reader, sql, &rows.held, ret_message);
    free(sql);
    if (r < 0)
        return r;
    pie_cursor_bind_int(rows.held, ":run", run);
    pie_cursor_bind_int(rows.held, ":shown", shown);
    pie_cursor_bind_int(rows.held, ":samples", PIE_FIRST_ROWS_SAMPLES_MIN);
    pie_cursor_bind_int(rows.held, ":wait", PIE_FIRST_ROWS_WAIT_MIN_NS);
    r = pie_cursor_next(rows.held, ret_message);
    if (r < 0) {
        pie_first_rows_close(&rows);
        return r;
    }
    int64_t count = pie_cursor_int(rows.held, 0), enough = pie_cursor_int(rows.held, 1);
    rows.nth = enough > 0 ? enough : count;
    rows.behind = count - rows.nth;
    *ret_rows = rows;
    return 0;
}

void pie_first_rows_close(struct pie_first_rows *rows) {
    pie_cursor_close(rows->held);
    *rows = (struct pie_first_rows){0};
}
