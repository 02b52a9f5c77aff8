/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct _object;
struct _typeobject;
struct _ts;

/* The parts of CPython's memory layout that the search for retention paths needs and that differ between versions.
 * Context of all here, except where another is named: gil. Plain loads: everything is reached from objects that are
 * known to be alive. */

/* --- the heap: retention/heap_lists.c (3.11 to 3.13), retention/heap_visit.c --- */

/* Shows all objects that the garbage collector tracks, frozen ones too; ends when visit() returns false. */
void pie_retention_heap_visit(bool (*visit)(struct _object *object, void *arg), void *arg);

bool pie_retention_heap_is_collecting(void);

/* How many bytes of its block come before an object of this type. */
size_t pie_retention_header_bytes(struct _typeobject *type);

/* For objects of types that the garbage collector knows. */
bool pie_retention_is_tracked(struct _object *object);

/* --- pending calls: retention/version_311.c, retention/version_312.c, retention/version_313.c; Context: any --- */

/* Lets the main interpreter's main thread run call(NULL) at its next chance. False: the queue is full. */
bool pie_retention_schedule(int (*call)(void *));

/* Makes the main thread notice scheduled calls; called again where it may have missed them. */
void pie_retention_wake(void);

/* --- attributes: the same files --- */

/* The attributes of an instance that has no dictionary of its own (yet). */
struct pie_retention_values {
    struct _object *const *values; /* some are NULL */
    size_t count;
    uintptr_t block; /* where they were allocated, 0 if within the object */
};

/* False: there are none. */
bool pie_retention_values(struct _object *object, struct pie_retention_values *ret_values);

/* The name of the i-th of them, borrowed; NULL if it has none. */
struct _object *pie_retention_values_name(struct _object *object, size_t i);

/* The dictionary that the interpreter keeps for the instance before its head, borrowed; NULL. */
struct _object *pie_retention_managed_dict(struct _object *object);

/* That dictionary where tp_traverse does not tell of it, borrowed; NULL. */
struct _object *pie_retention_untraversed_dict(struct _object *object);

/* Where a dictionary that shares its keys keeps its values; 0 if it does not. */
uintptr_t pie_retention_dict_values_block(struct _object *dict);

/* --- frames: retention/frames_311.c, retention/frames_shims.c (3.12 and later) --- */

struct pie_retention_frame {
    struct _object *code;     /* NULL: the interpreter's own frame */
    struct _object *function; /* NULL if there is none */
    struct _object *locals;   /* of module and class bodies; NULL */
    const uintptr_t
        *slots;         /* co_nlocalsplus references or 0, then co_stacksize words, of which some are stale */
    uintptr_t tag_mask; /* bits of a slot that are no address */
    const void *previous;
};

const void *pie_retention_frame_first(struct _ts *tstate);
void pie_retention_frame_read(const void *frame, struct pie_retention_frame *ret_frame);

/* The frame in a generator, coroutine or frame object; NULL if the object is none or its frame has ended. */
const void *pie_retention_frame_of(struct _object *object);
