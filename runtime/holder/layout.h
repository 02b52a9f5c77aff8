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

/* --- the heap: holder/heap_lists.c (3.11 to 3.13), holder/heap_visit.c --- */

/* Shows all objects that the garbage collector tracks, frozen ones too; ends when visit() returns false. */
void pie_holder_heap_visit(bool (*visit)(struct _object *object, void *arg), void *arg);

bool pie_holder_heap_is_collecting(void);

/* How many bytes of its block come before an object of this type. */
size_t pie_holder_header_bytes(struct _typeobject *type);

/* For objects of types that the garbage collector knows. */
bool pie_holder_is_tracked(struct _object *object);

/* --- pending calls: holder/version_311.c, holder/version_312.c, holder/version_313.c; Context: any --- */

/* Lets the main interpreter's main thread run call(NULL) at its next chance. False: the queue is full. */
bool pie_holder_schedule(int (*call)(void *));

/* Makes the main thread notice scheduled calls; called again where it may have missed them. */
void pie_holder_wake(void);

/* --- attributes: the same files --- */

/* The attributes of an instance that has no dictionary of its own (yet). */
struct pie_holder_values {
    struct _object *const *values; /* some are NULL */
    size_t count;
    uintptr_t block; /* where they were allocated, 0 if within the object */
};

/* False: there are none. */
bool pie_holder_values(struct _object *object, struct pie_holder_values *ret_values);

/* The name of the i-th of them, borrowed; NULL if it has none. */
struct _object *pie_holder_values_name(struct _object *object, size_t i);

/* The dictionary that the interpreter keeps for the instance before its head, borrowed; NULL. */
struct _object *pie_holder_managed_dict(struct _object *object);

/* That dictionary where tp_traverse does not tell of it, borrowed; NULL. */
struct _object *pie_holder_untraversed_dict(struct _object *object);

/* Where a dictionary that shares its keys keeps its values; 0 if it does not. */
uintptr_t pie_holder_dict_values_block(struct _object *dict);

/* --- frames: holder/frames_311.c, holder/frames_shims.c (3.12 and later) --- */

struct pie_holder_frame {
    struct _object *code;     /* NULL: the interpreter's own frame */
    struct _object *function; /* NULL if there is none */
    struct _object *locals;   /* of module and class bodies; NULL */
    const uintptr_t
        *slots;         /* co_nlocalsplus references or 0, then co_stacksize words, of which some are stale */
    uintptr_t tag_mask; /* bits of a slot that are no address */
    const void *previous;
};

const void *pie_holder_frame_first(struct _ts *tstate);
void pie_holder_frame_read(const void *frame, struct pie_holder_frame *ret_frame);

/* The frame in a generator, coroutine or frame object; NULL if the object is none or its frame has ended. */
const void *pie_holder_frame_of(struct _object *object);
