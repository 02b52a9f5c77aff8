/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the tree in memory to the tree in the file: CCT nodes are addresses and code units, stored nodes are lines and
 * functions. Contexts that look the same when named become one stored node. Names are looked up here, outside any
 * transaction; new nodes and locations wait until pie_naming_write(). A context that is met again, also in the other
 * half of the tree (profiler/collect/turn.h), has its stored node again, unless that was forgotten. Context: drain. */

struct pie_naming;
struct pie_pystack_ops;

int pie_naming_create(const struct pie_pystack_ops *ops, struct pie_naming **ret_naming);
void pie_naming_destroy(struct pie_naming *naming);

/* Code objects get their owners from this sink from now on (pie_pystack_ops.set_owner), also those named before. It
 * lives until another one is set; NULL: none. Not inside its begin/commit. */
void pie_naming_set_owners(struct pie_naming *naming, struct pie_sink *sink);

/* pie_symbolizer_allow_debug_info(). */
void pie_naming_allow_debug_info(struct pie_naming *naming, uint64_t most_ns);

/* Libraries may have come or gone. */
void pie_naming_refresh(struct pie_naming *naming);

/* The stored node of a CCT node; 0 for the root (and when memory is short: the caller drops and counts). */
struct pie_node_id pie_naming_node(struct pie_naming *naming, struct pie_cct_id cct_node);

/* Forgets names that no context has led to since the last time and that nobody holds: should one come again it is
 * stored anew. Forgets also the CCT nodes and Python code of the half that is not the current one. holds: is this
 * stored node needed? May be NULL. */
void pie_naming_forget(struct pie_naming *naming, bool (*holds)(void *data, struct pie_node_id node),
                       void *data);

/* After that: is a stored node or location still known? No row will tell of any other again. */
bool pie_naming_keeps_node(const struct pie_naming *naming, struct pie_node_id node);
bool pie_naming_keeps_location(const struct pie_naming *naming, struct pie_location_id location);

/* Is the native code on top of a CCT node's innermost Python frame at work inside an allocator (malloc, free, …)? */
bool pie_naming_is_allocator(struct pie_naming *naming, struct pie_cct_id cct_node);

/* The function symbol around an address of a loaded library: [*ret_begin, *ret_end). False: there is none. A
 * pie_decode_range_fn; naming_data is the struct pie_naming. */
bool pie_naming_function_range(void *naming_data, uintptr_t address, uintptr_t *ret_begin,
                               uintptr_t *ret_end);

/* Gives all new locations and nodes to the sink, inside its transaction. After an error they are still new.
 * Returns 0 or the sink's error. */
int pie_naming_write(struct pie_naming *naming, struct pie_sink *sink);
/* Does nothing wait to be written? Waiting names have texts of Python code, of either half of the tree. */
bool pie_naming_is_written(const struct pie_naming *naming);
/* The transaction was committed: written nodes and locations are no longer new. */
void pie_naming_written(struct pie_naming *naming);
