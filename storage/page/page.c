/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "storage/base/message.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/page/page_tree.h"
#include "storage/read/reader.h"

enum { SCHEMA = 1, CUT_BYTES_MAX = 8000 /* what `cut` may take itself */ };

/* Of one part: a million contexts take some 10 s of CPU time for each of the large tables. */
#define TIME_LIMIT_S 600

int pie_page_no_memory(char **ret_message) {
    return pie_message(-ENOMEM, ret_message, "out of memory");
}

/* Half, so that what is added to it does not overflow. */
size_t pie_page_limit(const struct pie_page *page, size_t limit) {
    return page->is_whole ? SIZE_MAX / 2 : limit;
}

size_t pie_page_room(const struct pie_page *page) {
    return page->left > page->strings.bytes ? page->left - page->strings.bytes : 0;
}

int pie_page_put(struct pie_page *page, const char *name, json_t *value) {
    size_t size = value ? pie_page_size(value) : SIZE_MAX;
    if (size == SIZE_MAX || json_object_set_new(page->data, name, value) < 0)
        return -ENOMEM;
    size += strlen(name) + sizeof "\"\":,";
    page->left -= size < page->left ? size : page->left;
    return 0;
}

int pie_page_put_cut(struct pie_page *page, const char *name, size_t rows, size_t rows_total,
                     const char *order) {
    if (rows >= rows_total)
        return 0;
    return json_object_set_new(page->cut, name,
                               json_pack("{s:I, s:I, s:s}", "rows", (json_int_t)rows, "rows_total",
                                         (json_int_t)rows_total, "order", order)) == 0
               ? 0
               : -ENOMEM;
}

/* "2026-11-23T10:00:00.000Z", as times of the views. */
static json_t *now(void) {
    char text[32];
    time_t time_s = time(NULL);
    struct tm date;
    if (!gmtime_r(&time_s, &date) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000Z", &date) == 0)
        return json_null();
    return json_string(text);
}

static int put_about(struct pie_page *page, const struct pie_page_choice *choice) {
    json_t *about =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "pieprof_version", PIEPROF_VERSION, "made", now(),
                  "profile", pie_page_text(choice->profile), "process", pie_page_text(choice->process),
                  "note", pie_page_text(pie_reader_note(page->reader)), "limit_bytes",
                  page->is_whole ? json_null() : json_integer(PIE_PAGE_BYTES_MAX));
    int r = pie_page_put(page, "schema", json_integer(SCHEMA));
    return r < 0 ? r : pie_page_put(page, "page", about);
}

/* The row of the question "runs", with all columns of its view. */
static json_t *read_run(struct pie_cursor *cursor) {
    json_t *run = json_object();
    for (int i = 0; run && i < pie_cursor_column_count(cursor); i++)
        if (json_object_set_new(run, pie_cursor_column_name(cursor, i), pie_page_value(cursor, i)) < 0) {
            json_decref(run);
            run = NULL;
        }
    return run;
}

static int put_run(struct pie_page *page, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(page->reader, "SELECT * FROM v_run WHERE run = :run", &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", page->run);
    r = pie_cursor_next(cursor, ret_message);
    if (r == 0)
        r = pie_message(-ENODATA, ret_message, "run %lld has no process: nothing of it was written",
                        (long long)page->run);
    else if (r > 0)
        r = pie_page_put(page, "run", read_run(cursor)) < 0 ? pie_page_no_memory(ret_message) : 0;
    pie_cursor_close(cursor);
    return r;
}

static int put_parts(struct pie_page *page, char **ret_message) {
    struct pie_page_tree *tree = NULL;
    int r = put_run(page, ret_message);
    if (r == 0)
        r = pie_page_add_tables(page, ret_message);
    if (r == 0)
        r = pie_page_add_hints(page, ret_message);
    if (r == 0)
        r = pie_page_add_waits(page, ret_message);
    if (r == 0)
        r = pie_page_add_curves(page, ret_message);
    if (r == 0)
        r = pie_page_add_tree(page, &tree, ret_message);
    if (r == 0)
        r = pie_page_add_time(page, tree, ret_message);
    pie_page_tree_destroy(tree);
    return r < 0 ? r : pie_page_add_source(page, ret_message);
}

/* All that does not know its size before the end. */
static int put_rest(struct pie_page *page) {
    int r = json_object_set(page->data, "strings", page->strings.list);
    return r < 0 ? r : json_object_set(page->data, "cut", page->cut);
}

static int make_data(struct pie_page *page, const struct pie_page_choice *choice, char **ret_message) {
    page->data = json_object();
    page->cut = json_object();
    if (!page->data || !page->cut || pie_page_strings_init(&page->strings) < 0 || put_about(page, choice) < 0)
        return pie_page_no_memory(ret_message);
    int r = put_parts(page, ret_message);
    return r == 0 && put_rest(page) < 0 ? pie_page_no_memory(ret_message) : r;
}

/* What cannot be written is the stream's error, which whoever closes it reports. */
static int write_page(FILE *out, const json_t *data, const struct pie_page_template *page,
                      char **ret_message) {
    fwrite(page->head, 1, page->head_size, out);
    int r = pie_page_dump(out, data);
    fwrite(page->tail, 1, page->tail_size, out);
    return r < 0 && !ferror(out) ? pie_page_no_memory(ret_message) : 0;
}

static void finish(struct pie_page *made) {
    json_decref(made->data);
    json_decref(made->cut);
    pie_page_strings_finish(&made->strings);
}

int pie_page_write(FILE *out, struct pie_reader *reader, const struct pie_page_choice *choice,
                   const struct pie_page_template *page, char **ret_message) {
    size_t around = page->head_size + page->tail_size + CUT_BYTES_MAX;
    struct pie_page made = {
        .reader = reader,
        .run = choice->run,
        .left = around < PIE_PAGE_BYTES_MAX ? PIE_PAGE_BYTES_MAX - around : 0,
    };
    pie_reader_set_time_limit(reader, TIME_LIMIT_S);
    int r = make_data(&made, choice, ret_message);
    if (r == 0)
        r = write_page(out, made.data, page, ret_message);
    finish(&made);
    return r;
}

int pie_page_write_data(FILE *out, struct pie_reader *reader, const struct pie_page_choice *choice,
                        char **ret_message) {
    static const struct pie_page_template nothing = {.head = "", .tail = ""};
    struct pie_page made = {.reader = reader, .run = choice->run, .is_whole = true};
    made.left = pie_page_limit(&made, 0);
    pie_reader_set_time_limit(reader, TIME_LIMIT_S);
    int r = pie_reader_freeze(reader, ret_message);
    if (r == 0)
        r = make_data(&made, choice, ret_message);
    if (r == 0)
        r = write_page(out, made.data, &nothing, ret_message);
    finish(&made);
    return r;
}
