/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the process that counts calls and the one that waits for it share (pieprof confirm): memory that both map, so
 * that the counts are there however the program ends. One process writes, under its GIL; the other reads when that one
 * is over. Context: cli, launcher, gil. */

enum {
    PIE_CONFIRM_LINES_MAX = 64,
    PIE_CONFIRM_ROWS_MAX = 1024,
    PIE_CONFIRM_CALLEES_MAX = 32, /* of one line; the others are counted together */
    PIE_CONFIRM_CALLEE_BYTES = 96,
    PIE_CONFIRM_FILE_BYTES = 4096,
    PIE_CONFIRM_DISTINCT_MAX = 1 << 20, /* of one row's arguments or results that are held apart */
};

/* A line whose calls are counted. */
struct pie_confirm_line {
    char file[PIE_CONFIRM_FILE_BYTES]; /* as the profile has it */
    int32_t line;                      /* 1-based */
    int32_t function_line;             /* of a caller's line, where its function begins; 0: of another one */
    bool has_code;                     /* code of its file was run */
    bool was_run;                      /* a call of it was met, or an element or operator */
    bool is_dropped;                   /* it is not counted any more */
};

/* What one callee was called for at one line. Times are CPU time, without that of counting. A call within another one
 * of the same line is in the time of that one only. */
struct pie_confirm_row {
    uint32_t line; /* index */
    char callee[PIE_CONFIRM_CALLEE_BYTES];
    bool is_item;              /* a[i], a[i] = x or the next one of an iteration */
    bool has_more;             /* there were more distinct ones than are held apart */
    uint64_t calls;            /* that ended, whichever way */
    uint64_t raised;           /* by an exception */
    uint64_t compared;         /* whose arguments were compared by value, all of them */
    uint64_t distinct_args;    /* of these and of those with objects that are only known as objects */
    uint64_t once, twice;      /* of distinct_args: were met so often */
    uint64_t distinct_results; /* of those that are known by value */
    uint64_t again;            /* compared, and seen before with the same arguments and the same result */
    uint64_t
        alike; /* seen before with the same arguments or objects, but the values are not known to be the same */
    uint64_t same;    /* of again and alike: with the arguments of the call before */
    uint64_t singles; /* for single numbers or elements only */
    uint64_t call_ns, again_ns, alike_ns, single_ns;
    uint64_t bulk_ns;    /* of operators and ufuncs on arrays of many elements */
    uint8_t passed_kind; /* enum pie_passed (profiler/ports/windows.h), as are the next four */
    uint64_t passed, passed_items, passed_ns, carried;
    uint64_t grew;      /* that had larger arguments than the call before */
    uint64_t arg_bytes; /* of text, buffers and containers among the arguments, of all calls */
};

struct pie_confirm_board {
    uint32_t n_lines, n_rows;
    bool is_counting; /* the counting began */
    bool has_others;  /* another tracer, profiler or debugger was met, whose code was not counted */
    bool is_short;    /* memory, rows or the stack ran out: something was not counted */
    uint32_t forks;   /* children that were forked: theirs is not counted */
    struct pie_confirm_line lines[PIE_CONFIRM_LINES_MAX];
    struct pie_confirm_row rows[PIE_CONFIRM_ROWS_MAX];
};
