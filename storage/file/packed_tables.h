/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;

/* Rows of finished slices lie packed in the table `packed` (packing.h). What a connection needs to write and to read
 * them. Context: drain, cli.
 *
 * Functions, where <table> is sample, allocated or copy, and rows are of one process, slice and block:
 *   pack_<table>(part, node, values…, squares)  an aggregate: packs rows; the order is packing.c's
 *   merge_packed(kind, rows)                    an aggregate: makes one of several packed ones
 *   merge_packed(kind, rows, rows)              the same of two
 *
 * Tables, which need not be made and always are those of the file, whatever has their names among temporary tables:
 *   every_<table>  its columns, and the hidden `packed`: the file's rows of the table, and each packed row. A late row
 *                  of a finished slice may lie beside the packed one of the same key, so rows of a key are added up.
 * Damage in packed rows is SQLITE_CORRUPT_VTAB, or SQLITE_CORRUPT from a function. */

/* SQLite makes such a table when it is first named, which an authorizer takes for writing (guard.c): to be run
 * before. */
#define PIE_EVERY_ROW_MADE "SELECT 1 FROM every_sample, every_allocated, every_copy LIMIT 0"

/* Returns an SQLite result code. */
int pie_packed_tables_add(struct sqlite3 *db);

/* The two halves of it. */
int pie_packed_functions_add(struct sqlite3 *db);
int pie_every_row_add(struct sqlite3 *db);
