/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;
struct sqlite3_stmt;

/* The statements that fill the database. Context: drain. */
enum pie_statement {
    PIE_STATEMENT_RUN,
    PIE_STATEMENT_PROCESS,
    PIE_STATEMENT_PROCESS_SEEN,
    PIE_STATEMENT_PROCESS_ENDED,
    PIE_STATEMENT_PROCESS_WITHOUT_ROW,
    PIE_STATEMENT_PROCESS_FOUND_ENDED,
    PIE_STATEMENT_PROCESS_LOST,
    PIE_STATEMENT_PROCESS_GONE,
    PIE_STATEMENT_ENVIRONMENT,
    PIE_STATEMENT_THREAD,
    PIE_STATEMENT_MODULE,
    PIE_STATEMENT_FILE,
    PIE_STATEMENT_FILE_LIBRARY,
    PIE_STATEMENT_FUNCTION,
    PIE_STATEMENT_LOCATION,
    PIE_STATEMENT_NODE,
    PIE_STATEMENT_SAMPLE,
    PIE_STATEMENT_WATCH,
    PIE_STATEMENT_ALLOCATION,
    PIE_STATEMENT_ALLOCATED,
    PIE_STATEMENT_LINE_FOOTPRINT,
    PIE_STATEMENT_LINE_FOOTPRINT_FORGET,
    PIE_STATEMENT_FOOTPRINT,
    PIE_STATEMENT_FOOTPRINT_FORGET,
    PIE_STATEMENT_HEAP,
    PIE_STATEMENT_COPY,
    PIE_STATEMENT_HOLDER,
    PIE_STATEMENT_LEARNED_LOOP,
    PIE_STATEMENT_LEARNED_CALL,
    PIE_STATEMENT_COUNTER,
    PIE_STATEMENT_OVERHEAD,
    PIE_STATEMENT_SOURCE,
    PIE_STATEMENT_SOURCE_LINE,
    /* Slices of a process become as wide as ?2 says: those that are not where a wider one begins are added to the one before. */
    PIE_STATEMENT_WIDEN_PROCESS,
    PIE_STATEMENT_WIDEN_SAMPLE,
    PIE_STATEMENT_WIDEN_WATCH,
    PIE_STATEMENT_WIDEN_ALLOCATED,
    PIE_STATEMENT_WIDEN_COPY,
    PIE_STATEMENT_WIDENED_SAMPLE,
    PIE_STATEMENT_WIDENED_WATCH,
    PIE_STATEMENT_WIDENED_ALLOCATED,
    PIE_STATEMENT_WIDENED_COPY,
    /* Slices of a process that begin before ?2 are forgotten. */
    PIE_STATEMENT_FORGET_PROCESS,
    PIE_STATEMENT_FORGET_SAMPLE,
    PIE_STATEMENT_FORGET_WATCH,
    PIE_STATEMENT_FORGET_ALLOCATED,
    PIE_STATEMENT_FORGET_COPY,
    PIE_STATEMENT_COUNT,
};

/* Prepared when first used. */
struct pie_statements {
    struct sqlite3 *db;
    struct sqlite3_stmt *prepared[PIE_STATEMENT_COUNT];
};

/* Returns 0 or a negative SQLite result code. `data` is a struct pie_statements: fits pie_rowlog_replay(). */
int pie_statements_get(void *data, unsigned statement, struct sqlite3_stmt **ret_statement);
void pie_statements_finish(struct pie_statements *statements);
