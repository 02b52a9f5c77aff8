/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/confirm.h"

struct PyCodeObject;

/* The instructions of a code object that call, look up an element or compute, at lines that are counted; and how their
 * operands lie on the stack. sites_311.c. All of it is called with the GIL held. */

enum pie_confirm_site_kind {
    PIE_CONFIRM_NONE,
    PIE_CONFIRM_IDLE,      /* does next to nothing */
    PIE_CONFIRM_CALL,      /* f(a, b) */
    PIE_CONFIRM_CALL_STAR, /* f(*a, **b) */
    PIE_CONFIRM_BINARY,    /* a + b, a < b, a in b */
    PIE_CONFIRM_UNARY,     /* -a */
    PIE_CONFIRM_ITEM,      /* a[b] */
    PIE_CONFIRM_STORE,     /* a[b] = c */
    PIE_CONFIRM_NEXT,      /* the next one of an iteration */
};

struct pie_confirm_site {
    uint8_t kind;
    uint16_t line; /* index */
    int argument, next_unit;
    const char *operator;          /* "+" */
    struct _object *names;         /* of arguments by name, a tuple that the code holds; NULL: none */
    struct pie_confirm_sums *sums; /* of the callee that was met last */
    uint64_t key;                  /* its */
};

struct pie_confirm_code {
    int units;
    struct pie_confirm_site sites[];
};

/* NULL: no such line, or no memory. */
struct pie_confirm_code *pie_confirm_code_make(struct PyCodeObject *code);

/* The site that begins at a code unit, or NULL. */
struct pie_confirm_site *pie_confirm_site_at(struct pie_confirm_code *code, int unit);
bool pie_confirm_is_idle(const struct pie_confirm_code *code, int unit);

/* Reads what is about to be called with which arguments, below the top of the stack. False: it is not counted. */
bool pie_confirm_site_read(struct pie_confirm_site *site, struct _object **top,
                           struct pie_confirm_call *call);
