/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counted windows: for some milliseconds now and then, the program's main thread counts all calls of some lines, with
 * their arguments and results. The collection thread chooses lines and moments; the thread itself begins and ends a
 * window, between two instructions. runtime/ fills in the table. */

enum { PIE_WINDOW_CALLEE_BYTES = 96 };

/* What calls of a callee go through item by item, if they do. Values of the column passed.kind. */
enum pie_passed {
    PIE_PASSED_NONE,
    PIE_PASSED_SEARCH = 1,  /* a list or tuple, for one of its items */
    PIE_PASSED_SLICE = 2,   /* a copy of a part of a list, tuple, text or bytes */
    PIE_PASSED_SHIFT = 3,   /* the items of a list behind one that is added or removed */
    PIE_PASSED_CODE = 4,    /* text that eval(), exec() or compile() makes code of, character by character */
    PIE_PASSED_LIST = 5,    /* lists of numbers, which a library makes arrays of */
    PIE_PASSED_ZEROS = 6,   /* an array that a product reads, though nearly all of it is zero */
    PIE_PASSED_NUMBER = 7,  /* the bytes of one number */
    PIE_PASSED_SYSTEM = 8,  /* a square array that is solved or factored, though nearly all of it is zero */
    PIE_PASSED_ARRAYS = 9,  /* a list of arrays, which another library takes number by number */
    PIE_PASSED_CHOICE = 10, /* items of which min() or max() takes one, though few have changed */
};

/* What one callee was called for at one line, in all windows so far. file and callee are borrowed until the process
 * ends. Calls that were cut off by the end of a window are not counted. */
struct pie_window_row {
    const char *file, *callee;
    int32_t line;          /* 1-based */
    int32_t function_line; /* of a caller's line (add()), where its function begins; else 0 */
    const char *function;  /* its name; the collector says so, and the next two */
    uint64_t line_ns,
        function_ns; /* CPU time of samples in the line and in its function, with all that they call */
    bool is_in_loop; /* the line, of its function; the collector says so */
    bool is_item;    /* access to an element, or the next one of an iteration */
    uint64_t calls, raised;
    uint64_t compared; /* whose arguments were compared by value, all of them */
    uint64_t distinct_args, distinct_results;
    uint64_t once, twice; /* of the distinct arguments, those that were met so often */
    uint64_t again;   /* with the arguments and the result of an earlier one, of this window or one before */
    uint64_t alike;   /* the same, but not all values are known */
    uint64_t same;    /* of again and alike: as the call before of the same callee */
    uint64_t singles; /* for single numbers or elements only */
    uint64_t grew;    /* that had larger arguments than the call before */
    uint64_t arg_bytes; /* of text, buffers and containers among the arguments, of all calls */
    uint64_t call_ns, again_ns, alike_ns, single_ns, bulk_ns; /* CPU time without that of counting */
    uint8_t passed_kind;                                      /* enum pie_passed */
    uint64_t passed, passed_items, passed_ns; /* calls that went through items, and how many */
    uint64_t
        carried; /* of them, through what the call before had gone through; slices: through what it had made;
                    text, and lists of numbers: through that of any call before; kinds from 6 on: all */
};

struct pie_window_limits {
    uint64_t length_ns; /* of time; the thread itself ends the window at the first call after it */
    uint64_t forced_ns; /* where no call comes: look() ends it */
    uint64_t cost_ns;   /* of counting */
    uint64_t calls;
    uint64_t few_calls,
        long_ns; /* fewer than this number are waited for so long: what follows a call says whether it
                                    is made again */
    int32_t
        function_line; /* 0: hot lines are counted; else callers' lines, of the functions that begin there */
};

/* Context: drain (all of this). */
struct pie_window_ops {
    /* Counts a line from the next window on. function_line: 0, or it is one of a caller, in the function that begins
     * there and not in those within it. Returns its number, -1: there is no room. To be called at rest. */
    int (*add)(const char *file, int32_t line, int32_t function_line);
    /* … and not any more. */
    void (*drop)(int number);
    /* Asks the main thread for a window. False: it cannot be asked. */
    bool (*open)(const struct pie_window_limits *limits);
    /* Asks for the end of one that is due. */
    void (*look)(void);
    /* No window is open or asked for, so the rows do not change. */
    bool (*is_resting)(void);
    /* What counting has cost so far. */
    uint64_t (*spent_ns)(void);
    /* Calls that were counted at a line, by its number. */
    uint64_t (*calls)(int number);
    /* A row by its index. False: there are fewer. */
    bool (*row)(size_t index, struct pie_window_row *ret_row);
};
