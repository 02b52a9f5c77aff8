/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/page/page_source.h"
#include "storage/read/reader.h"

/* Lines of text far from all costs are cut first: those within NEAR lines of one that the page has come first, then
 * those within FAR, then the others; in each by the file's place. So a large file does not take the room of all that
 * follow, and no line that costs something is without its text while another one has it. */

enum { NEAR = 4, FAR = 20 };

/* No profile's texts take more: 16 MiB for each process are kept, and the page takes a part of them. */
enum { HELD_BYTES_MAX = 64 << 20 };

struct text_line {
    uint32_t place; /* of its file in the page */
    int64_t line;
    int distance; /* class: 0 near, 1 far, 2 the rest */
    char *text;   /* heap */
};

struct texts {
    struct text_line *lines;
    size_t count, room, bytes, total;
    int64_t *costs; /* lines with costs, ordered; those of file n begin at first[n] */
    uint32_t *first;
};

static int compare_numbers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The lines of the page, by file. */
static int index_costs(const struct pie_page_source *source, struct texts *texts) {
    uint32_t files = source->files_shown;
    texts->costs = calloc((size_t)source->shown + 1, sizeof *texts->costs);
    texts->first = calloc((size_t)files + 2, sizeof *texts->first);
    if (!texts->costs || !texts->first)
        return -ENOMEM;
    for (uint32_t i = 0; i < source->shown; i++)
        texts->first[source->files[source->lines[i].file].place + 2]++;
    for (uint32_t i = 2; i <= files + 1; i++)
        texts->first[i] += texts->first[i - 1];
    for (uint32_t i = 0; i < source->shown; i++) /* afterwards first[n + 1] is the end of file n */
        texts->costs[texts->first[source->files[source->lines[i].file].place + 1]++] = source->lines[i].line;
    for (uint32_t i = 0; i < files; i++)
        qsort(texts->costs + texts->first[i], texts->first[i + 1] - texts->first[i], sizeof *texts->costs,
              compare_numbers);
    return 0;
}

/* How far a line is from the next one with costs. */
static int distance_of(const struct texts *texts, uint32_t place, int64_t line) {
    uint32_t low = texts->first[place], end = texts->first[place + 1], high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (texts->costs[middle] < line)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t next = low < end ? (uint64_t)texts->costs[low] - (uint64_t)line : UINT64_MAX;
    uint64_t last = low > texts->first[place] ? (uint64_t)line - (uint64_t)texts->costs[low - 1] : UINT64_MAX;
    uint64_t least = next < last ? next : last;
    return least <= NEAR ? 0 : least <= FAR ? 1 : 2;
}

static uint32_t place_of(const struct pie_page_source *source, const char *path) {
    uint32_t file = pie_page_source_find(source, path, true);
    if (file == UINT32_MAX || source->files[file].lines == 0)
        file = pie_page_source_find(source, path, false);
    return file != UINT32_MAX && source->files[file].lines > 0 ? source->files[file].place : UINT32_MAX;
}

static int take_line(const struct pie_page_source *source, struct texts *texts, struct pie_cursor *cursor) {
    const char *path = pie_cursor_text(cursor, 0), *text = pie_cursor_text(cursor, 2);
    uint32_t place = path ? place_of(source, path) : UINT32_MAX;
    if (!text || place == UINT32_MAX)
        return 0;
    texts->total++;
    if (texts->bytes > HELD_BYTES_MAX)
        return 0;
    if (texts->count == texts->room) {
        size_t room = texts->room ? texts->room * 2 : 256;
        struct text_line *lines = reallocarray(texts->lines, room, sizeof *lines);
        if (!lines)
            return -ENOMEM;
        texts->lines = lines;
        texts->room = room;
    }
    struct text_line line = {.place = place, .line = pie_cursor_int(cursor, 1), .text = strdup(text)};
    if (!line.text)
        return -ENOMEM;
    line.distance = distance_of(texts, place, line.line);
    texts->lines[texts->count++] = line;
    texts->bytes += strlen(text) + sizeof line;
    return 0;
}

static int compare_places(const struct text_line *a, const struct text_line *b) {
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_importance(const void *a, const void *b) {
    const struct text_line *x = a, *y = b;
    return x->distance != y->distance ? x->distance - y->distance : compare_places(x, y);
}

static int compare_order(const void *a, const void *b) {
    return compare_places(a, b);
}

static size_t digits(int64_t number) {
    char text[24];
    return (size_t)snprintf(text, sizeof text, "%lld", (long long)number);
}

/* Bytes of a line in the page, with commas. */
static size_t size_of(const struct text_line *line) {
    json_t *text = pie_page_text(line->text);
    size_t size = pie_page_size(text);
    json_decref(text);
    return size == SIZE_MAX ? size : size + digits(line->place) + digits(line->line) + 3;
}

/* How many fit, of all in the order of importance. */
static size_t choose(const struct texts *texts, size_t bytes_max) {
    static const size_t frame = sizeof "{\"file\":[],\"line\":[],\"text\":[]}";
    size_t chosen = 0, size = frame, more;
    for (; chosen < texts->count; chosen++, size += more) {
        more = size_of(&texts->lines[chosen]);
        if (more > bytes_max || size + more > bytes_max)
            break;
    }
    return chosen;
}

static json_t *write_texts(const struct texts *texts, size_t chosen) {
    json_t *files = json_array(), *lines = json_array(), *list = json_array();
    bool is_written = files && lines && list;
    for (size_t i = 0; i < chosen && is_written; i++)
        is_written = json_array_append_new(files, json_integer(texts->lines[i].place)) == 0 &&
                     json_array_append_new(lines, json_integer(texts->lines[i].line)) == 0 &&
                     json_array_append_new(list, pie_page_text(texts->lines[i].text)) == 0;
    json_t *object =
        is_written ? json_pack("{s:O, s:O, s:O}", "file", files, "line", lines, "text", list) : NULL;
    json_decref(files);
    json_decref(lines);
    json_decref(list);
    return object;
}

static const char text_sql[] = "SELECT file, line, text FROM v_source WHERE run = :run";

static int read_texts(struct pie_page *page, const struct pie_page_source *source, struct texts *texts,
                      char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(page->reader, text_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", page->run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        r = take_line(source, texts, cursor);
        if (r < 0) {
            (void)pie_page_no_memory(ret_message);
            break;
        }
    }
    pie_cursor_close(cursor);
    return r;
}

static int write_chosen(struct pie_page *page, struct texts *texts, size_t bytes_max, json_t **ret_text) {
    if (texts->count > 0)
        qsort(texts->lines, texts->count, sizeof *texts->lines, compare_importance);
    size_t chosen = choose(texts, bytes_max);
    if (chosen > 0)
        qsort(texts->lines, chosen, sizeof *texts->lines, compare_order);
    *ret_text = write_texts(texts, chosen);
    return *ret_text ? pie_page_put_cut(page, "source.text", chosen, texts->total,
                                        "nearness to a line with costs, then the order of files")
                     : -ENOMEM;
}

int pie_page_text_read(struct pie_page *page, const struct pie_page_source *source, size_t bytes_max,
                       json_t **ret_text, char **ret_message) {
    struct texts texts = {0};
    int r = index_costs(source, &texts) < 0 ? pie_page_no_memory(ret_message)
                                            : read_texts(page, source, &texts, ret_message);
    if (r == 0 && write_chosen(page, &texts, bytes_max, ret_text) < 0)
        r = pie_page_no_memory(ret_message);
    for (size_t i = 0; i < texts.count; i++)
        free(texts.lines[i].text);
    free(texts.lines);
    free(texts.costs);
    free(texts.first);
    return r;
}
