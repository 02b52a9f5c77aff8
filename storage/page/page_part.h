/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/page/page_strings.h"

struct pie_reader;
struct pie_cursor;
struct pie_page_tree;

/* The parts of a page's data while they are made, one after the other. Each takes what it may of the room that is left.
 * Context: cli. */

struct pie_page {
    struct pie_reader *reader;
    int64_t run;
    size_t left;   /* bytes that may still be written, the strings among them */
    bool is_whole; /* tables, lines and texts have no limit */
    json_t *data;  /* what is written: struct PageData of web/src/data.d.ts */
    json_t *cut;
    struct pie_page_strings strings;
};

/* Each returns 0, or -errno and a message. */
int pie_page_add_tables(struct pie_page *page, char **ret_message);
int pie_page_add_hints(struct pie_page *page, char **ret_message);
int pie_page_add_waits(struct pie_page *page, char **ret_message);
int pie_page_add_curves(struct pie_page *page, char **ret_message);
int pie_page_add_source(struct pie_page *page, char **ret_message);
/* *ret_tree is needed for the next one. */
int pie_page_add_tree(struct pie_page *page, struct pie_page_tree **ret_tree, char **ret_message);
int pie_page_add_time(struct pie_page *page, const struct pie_page_tree *tree, char **ret_message);

/* Bytes that are left for further parts. */
size_t pie_page_room(const struct pie_page *page);

/* The limit of a part, in rows or bytes; as good as none in whole data. */
size_t pie_page_limit(const struct pie_page *page, size_t limit);

/* Puts a part under a name and takes its size off the room that is left. The value is taken over. Returns 0 or
 * -ENOMEM. */
int pie_page_put(struct pie_page *page, const char *name, json_t *value);

/* Says how much of a table is there, unless it is all of it. */
int pie_page_put_cut(struct pie_page *page, const char *name, size_t rows, size_t rows_total,
                     const char *order);

/* -ENOMEM and a message. */
int pie_page_no_memory(char **ret_message);
