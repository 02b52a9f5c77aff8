/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/ports/ids.h"

struct pie_retention_ops;

/* The Python objects that own blocks of memory, and the retention paths of these objects. For leaks, once for each that
 * is reported.
 *
 * The answer is one line: the type of the object, the containers on the way, and a module, class, function or frame at
 * its end. For instance:
 *
 *   tuple in list `cache` of module app
 *   memory of list `rows` of app.Service object in dict `services` of class app.Registry
 *   dict in list `seen`, closure variable of app.make.<locals>.visit
 *   app.Node in a reference cycle of app.Node and dict, not freed: the garbage collector is disabled
 *   bytes in list, held by native code (1 reference)
 *
 * "memory of": the block is not the object itself but something that the object points to. A line that ends in "…" is
 * known up to there. */

enum {
    PIE_RETENTION_BLOCKS_MAX = 64,
    PIE_RETENTION_TEXT_BYTES = 512, /* enough for most answers; longer ones are cut */
};

/* Finds the retention paths of the objects in these blocks. blocks: addresses as malloc() or Python's allocators
 * returned them; those beyond PIE_RETENTION_BLOCKS_MAX are ignored. text: size > 0 bytes; "" when nothing is known.
 * Only the main interpreter's objects are looked at. Runs no Python code, makes no Python objects and leaves reference
 * counts alone, so that no garbage collection can begin in it. Returns 0; -ENOENT: none of the blocks belongs to an
 * object; -ETIME: the budget was spent, text has the findings until then; -EAGAIN: a garbage collection is under way,
 * in which not all objects can be seen; -ENOMEM. Context: gil. */
int pie_retention_find(const uintptr_t *blocks, size_t count, uint64_t budget_ns, char *text, size_t size);

/* Lets lookups be asked for, until the interpreter goes. Without it none can be. Context: gil (the main interpreter is
 * initialised). */
void pie_retention_install(void);

/* Asks for a lookup on Python's main thread at its next chance, or when it begins to finalize. node: handed back with
 * the answer. One at a time. False: one is under way, its answer has not been taken, or Python does not run.
 * Context: drain. */
bool pie_retention_ask(struct pie_node_id node, const uintptr_t *blocks, size_t count, uint64_t budget_ns);

/* Takes the answer. False: there is none (yet). text: "" if nothing was found. Asks again for a lookup that came at a
 * bad moment, so the caller must call this now and then. Context: drain. */
bool pie_retention_answer(struct pie_node_id *ret_node, char *text, size_t size);

/* CPU time of the main thread that all lookups so far have taken. Context: drain. */
uint64_t pie_retention_spent_ns(void);

/* The engine's way to these two (profiler/ports/retention.h). Context: any. */
const struct pie_retention_ops *pie_runtime_retention_ops(void);

/* In a forked child: nothing has been asked. Context: fork child. */
void pie_retention_fork_child(void);
