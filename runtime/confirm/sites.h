/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/confirm.h"

struct PyCodeObject;

/* The instructions of a code object that call, look up an element or compute, at lines that are counted (sites.c), how
 * deep the stack is there (depths.c), and how their operands lie on it (operands.c). All of it is called with the GIL
 * held. */

enum pie_confirm_site_kind {
    PIE_CONFIRM_NONE,
    PIE_CONFIRM_IDLE,        /* does next to nothing */
    PIE_CONFIRM_CALL,        /* f(a, b) */
    PIE_CONFIRM_CALL_NAMED,  /* f(a, b=c), with the names on the stack */
    PIE_CONFIRM_CALL_STAR,   /* f(*a, **b) */
    PIE_CONFIRM_BINARY,      /* a + b, a < b, a in b */
    PIE_CONFIRM_UNARY,       /* -a */
    PIE_CONFIRM_ITEM,        /* a[b] */
    PIE_CONFIRM_STORE,       /* a[b] = c */
    PIE_CONFIRM_SLICE,       /* a[b:c], without an object for the slice */
    PIE_CONFIRM_STORE_SLICE, /* a[b:c] = d */
    PIE_CONFIRM_NEXT,        /* the next one of an iteration */
};

struct pie_confirm_site {
    uint8_t kind;
    bool is_watched; /* a site, where a call of one ends, or what the cost of an event is measured by */
    bool is_opcode;  /* an instruction begins here; else it is a cache of one */
    uint16_t line;   /* index */
    int depth;       /* slots of the stack in use before it; -1: not known */
    int argument, next_unit, target_unit; /* target_unit: where an iteration goes on when it is over */
    const char *operator;                 /* "+" */
    struct _object *names;                /* of arguments by name, a tuple that the code holds; NULL: none */
    struct pie_confirm_sums *sums;        /* of the callee that was met last */
    uint64_t key;                         /* its */
};

struct pie_confirm_code {
    struct pie_confirm_code *next, **at; /* of all that there are; at: what points here */
    struct PyCodeObject *code;           /* borrowed; this goes with it */
    bool is_armed;                       /* its events are on */
    bool is_kept;                        /* kept has its bytecode */
    void *kept;                          /* (bytecode_312.c); NULL: not yet */
    int units;
    unsigned generation; /* of the lines that its sites are of */
    struct pie_confirm_site sites[];
};

/* All code objects that have such a line. */
extern struct pie_confirm_code *pie_confirm_codes;

/* Returns 0 or -errno. To be called first. */
int pie_confirm_codes_init(void);

/* The board has other lines from now on: code objects are looked at again. While no call is going on. */
void pie_confirm_lines_changed(void);

/* From now on a code object is what the lines of callers make of it, or the other ones. While no call is going on. */
void pie_confirm_lines_choose(bool are_of_callers);
extern bool pie_confirm_lines_are_of_callers;

/* What a code object is to us, made at first sight. NULL: it has no such line, or there is no memory. */
struct pie_confirm_code *pie_confirm_code_of(struct PyCodeObject *code);

/* Fills in the depths, and marks the sites that are watched. */
void pie_confirm_depths_fill(struct pie_confirm_code *made, struct PyCodeObject *code);

/* The site that begins at a code unit, or NULL. */
struct pie_confirm_site *pie_confirm_site_at(struct pie_confirm_code *code, int unit);
bool pie_confirm_is_idle(const struct pie_confirm_code *code, int unit);

/* Reads what is about to be called with which arguments, below the top of the stack. False: it is not counted. */
bool pie_confirm_site_read(struct pie_confirm_site *site, struct _object **top,
                           struct pie_confirm_call *call);

/* --- events.c: a call begins and ends --- */

/* A call that is going on, of a site. */
struct pie_confirm_ongoing {
    struct pie_confirm_site *site;
    struct pie_confirm_call call;
};

/* The instruction before did nothing: how long that took. */
void pie_confirm_event_idle(const struct pie_confirm_thread *thread, uint64_t now_ns);
/* The call that is going on has ended. top: of the stack, NULL: it raised an exception. */
void pie_confirm_event_end(struct pie_confirm_thread *thread, struct pie_confirm_ongoing *ongoing,
                           struct _object **top, uint64_t now_ns);
/* The event of an instruction is over when this returns. site: NULL: none. Returns whether a call of it begins. */
bool pie_confirm_event_begin(struct pie_confirm_thread *thread, struct pie_confirm_ongoing *ongoing,
                             struct pie_confirm_site *site, struct _object **top, uint64_t now_ns);

/* Is there little room left on the C stack? */
bool pie_confirm_stack_is_short(void);
