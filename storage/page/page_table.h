/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct pie_page;
struct pie_cursor;

/* A table of a page: an object of columns that are arrays of one length, in the order in which rows are cut. Context:
 * cli. */
struct pie_page_table {
    json_t *columns;
    size_t rows;
    size_t rows_total; /* with those that are not in it */
};

/* Reads at most rows_max rows, and counts the rest. Names of columns that end with "_string" are of texts that become
 * indices of the page's strings; the ending goes. Returns 0, or -errno and a message. */
int pie_page_table_read(struct pie_page *page, struct pie_cursor *cursor, size_t rows_max,
                        struct pie_page_table *ret_table, char **ret_message);

/* Leaves as many rows. */
void pie_page_table_cut(struct pie_page_table *table, size_t rows);

/* Cuts rows from the end until the table takes at most bytes_max. Returns 0 or -ENOMEM. */
int pie_page_table_fit(struct pie_page_table *table, size_t bytes_max);

/* Makes a table, which is taken over, fit, puts it into the page, and says what it does not have. order: by what it is
 * cut. Returns 0, or -ENOMEM and a message. */
int pie_page_table_finish(struct pie_page *page, const char *name, const char *order, size_t bytes_max,
                          struct pie_page_table *table, char **ret_message);

/* The answer to a statement about the run (:run) as a table of the page. Returns as pie_page_table_read(). */
struct pie_page_statement {
    const char *name, *sql, *order;
    size_t rows_max, bytes_max;
};
int pie_page_add_statement(struct pie_page *page, const struct pie_page_statement *statement,
                           char **ret_message);
