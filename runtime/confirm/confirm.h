/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/confirm/board.h"

struct _object;
struct pie_confirm_sums;

/* Counting all calls of some lines (pieprof confirm). calls_311.c or calls_312.c sees the calls, sums.c keeps their
 * sums, and digest.c compares values without running code of the program's. */

/* Begins counting in the interpreter that was just made. The board lives as long as the process. Returns 0 or -errno;
 * -ENOSYS: this Python's calls cannot be seen. Context: gil. */
int pie_confirm_install(struct pie_confirm_board *board);

/* Can calls be seen in the Python that this program is built with? Context: cli. */
extern const bool pie_confirm_is_possible;
/* Do all instructions of a function that has a counted line take longer, or only those of the line? Context: cli. */
extern const bool pie_confirm_slows_functions;

/* --- Between the files of this room; all of it is called with the GIL held. --- */

/* The board, or NULL: nothing is counted, or nothing any more. */
extern struct pie_confirm_board *pie_confirm_board;

/* From now on this Python's calls are seen, for the board that is there already. Returns 0 or -errno: somebody else
 * sees them. */
int pie_confirm_see_calls(void);

/* The values of some objects in one word. */
struct pie_confirm_digest {
    uint64_t hash;
    bool is_value;     /* equal words mean equal values; else some are known only by identity */
    bool is_single;    /* nothing but single numbers */
    size_t size_bytes; /* of text, buffers and containers, read or not */
    size_t elements;   /* of the largest buffer of values */
    size_t text_bytes; /* of text and bytes alone */
    bool is_derived;   /* something is known by what it was made of (made.c) */
    size_t budget;     /* bytes that may still be looked at; when it is used up, is_value is false */
    unsigned depth, n_functions;
    const struct _object *functions[8]; /* whose closures are being read: a function may enclose itself */
    const struct _object
        *tables[4]; /* frames, series and indexes that were read: an accessor has several names for one */
    unsigned n_tables;
};

enum { PIE_CONFIRM_BUDGET_BYTES = 64 << 20, PIE_CONFIRM_BUDGET_SMALL_BYTES = 16 << 10 };

/* The first of them, for callees whose values are not dear to read. */
extern size_t pie_confirm_budget_bytes;

void pie_confirm_digest_begin(struct pie_confirm_digest *digest, size_t budget_bytes);
/* Adds one object, or NULL: ints, floats, strings, bytes, None and the like by value; tuples, lists, dicts and sets by
 * what they hold; arrays and tensors by their content; functions by their code and what they enclose; instances of
 * plain classes by their attributes; others by identity. */
void pie_confirm_digest_add(struct pie_confirm_digest *digest, struct _object *object);
/* Adds an object without a look at what it holds. */
void pie_confirm_digest_add_identity(struct pie_confirm_digest *digest, struct _object *object);
/* made.c: adds an argument that the call before made of long text and that nobody else holds: what it was made of
 * stands for it. False: it is none, and nothing was added. */
bool pie_confirm_made_add(struct pie_confirm_digest *digest, uint32_t line, struct _object *object);
/* … and notes what a call has made of its arguments. is_value: its own content can be read. */
void pie_confirm_made_note(const struct pie_confirm_digest *arguments, uint32_t line, struct _object *result,
                           bool is_value);
/* Adds what is called; the receiver of a method by value. */
void pie_confirm_digest_add_callee(struct pie_confirm_digest *digest, struct _object *callee);

/* The name of what is called ("numpy.cos"), and a number that all calls of it share. */
void pie_confirm_name(struct _object *callee, char *text, size_t size);
bool pie_confirm_is_ufunc(struct _object *callee);
uint64_t pie_confirm_key(struct _object *callee);

/* What a call goes through item by item. */
struct pie_confirm_passed {
    uint8_t kind; /* enum pie_passed */
    const struct _object *container;
    size_t size, items; /* of the container; of them, those that it goes through */
    uint64_t
        text; /* CODE, LIST: the digest of the text, or of the lists; CHOICE: one that stands for the items */
};

/* passed.c: of a method of a list or tuple with its arguments, self first; of a function with its first argument; of
 * one that chooses among the items of its only argument; of `item in container`; of container[begin:end]. */
struct pie_confirm_passed pie_confirm_passed_method(struct _object *callee, struct _object **arguments,
                                                    int count);
struct pie_confirm_passed pie_confirm_passed_function(struct _object *callee, struct _object *argument);
/* eval() and exec(): what a code object does depends on what its names stand for. */
bool pie_confirm_runs_code(struct _object *callee);
struct pie_confirm_passed pie_confirm_passed_choice(struct _object *callee, struct _object *container);
struct pie_confirm_passed pie_confirm_passed_test(struct _object *item, struct _object *container);
struct pie_confirm_passed pie_confirm_passed_slice(struct _object *container);
/* arrays.c: of a function of libraries for arrays, by its name in the rows; of an operator with its two operands. */
struct pie_confirm_passed pie_confirm_passed_arrays(struct _object *callee, const char *name,
                                                    struct _object **arguments, int count);
struct pie_confirm_passed pie_confirm_passed_operands(const char *operator, struct _object ** operands);
/* … once the call has ended: what a slice has copied. */
void pie_confirm_passed_end(struct pie_confirm_passed *passed, struct _object *result);

/* A call that is going on. */
struct pie_confirm_call {
    struct pie_confirm_call *outer; /* the one around it in this thread, of any line */
    struct pie_confirm_sums *sums;  /* NULL: nothing is going on */
    struct pie_confirm_digest args;
    struct pie_confirm_passed passed;
    bool is_single, is_operator;     /* is_operator: one of the language, or a ufunc */
    uint64_t begun_ns, begun_cpu_ns; /* CLOCK_MONOTONIC; CPU time of the thread, about */
    uint64_t spent_ns;               /* by this thread on counting, until then */
    uint64_t inner_ns, inner_again_ns, inner_single_ns, inner_bulk_ns; /* of calls of the same line in it */
};

/* A thread. */
struct pie_confirm_thread {
    struct pie_confirm_call *innermost;
    uint64_t spent_ns;             /* on counting */
    uint64_t left_ns;              /* when the last event was over */
    uint64_t mark_ns, mark_cpu_ns; /* both clocks at one moment of late */
};

/* The sums of a callee at a line. key: the callee's number, from pie_confirm_key(), or one of an operator. find: NULL,
 * not known yet. add: NULL, without memory. */
struct pie_confirm_sums *pie_confirm_sums_find(uint32_t line, uint64_t key);
struct pie_confirm_sums *pie_confirm_sums_add(uint32_t line, uint64_t key, const char *name, bool is_item);
/* Bytes of its arguments and results that may be looked at in a call. */
size_t pie_confirm_sums_budget(const struct pie_confirm_sums *sums);
/* The callee's name, which lives as long as the board. */
const char *pie_confirm_sums_name(const struct pie_confirm_sums *sums);

/* Forgets all of them, also what was seen; the board has no rows. */
void pie_confirm_sums_forget(void);

/* CPU time of the thread, about, at a moment that is now or was of late. */
uint64_t pie_confirm_cpu_ns(struct pie_confirm_thread *thread, uint64_t now_ns);
/* CPU time since a moment, of both clocks. Counting must not take what a busy machine gives to others for its own. */
uint64_t pie_confirm_used_ns(uint64_t begun_ns, uint64_t begun_cpu_ns, uint64_t now_ns);

/* Begins a call whose sums, args and is_single are set. The last thing before it. digest_ns: to read its arguments. */
void pie_confirm_call_begin(struct pie_confirm_thread *thread, struct pie_confirm_call *call,
                            uint64_t digest_ns);
/* It ended. step_ns: what there is between two events of an instruction that does nothing. result: NULL: it raised an
 * exception. */
void pie_confirm_call_end(struct pie_confirm_thread *thread, struct pie_confirm_call *call, uint64_t end_ns,
                          uint64_t step_ns, struct _object *result);
/* Its end was not seen. */
void pie_confirm_call_drop(struct pie_confirm_thread *thread, struct pie_confirm_call *call);
