/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/tasks.h"

#include "profiler/base/hash.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Open addressing without deletion. A handler that interrupts another one, which is just writing a name, takes the next
 * free place: two numbers for one name are two rows that become one in the file. */

enum { PLACES = 512, OTHERS = 2 + PLACES };

enum { FREE, CLAIMED, WRITTEN };

/* Fork child: pie_task_names_forget(). */
static struct place {
    _Atomic uint32_t state;
    char name[PIE_AWAIT_NAME_BYTES];
} places[PLACES];
static _Atomic uint32_t used; /* places that were claimed */

static uint64_t hash_of(const char *name) {
    uint64_t hash = 0;

    for (const char *at = name; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    return pie_hash_mix(hash, 0);
}

/* Writes the name, if its place is still free and one more may be told apart. */
static bool claim(struct place *place, const char *name) {
    uint32_t expected = FREE;

    if (atomic_fetch_add_explicit(&used, 1, memory_order_relaxed) >= PIE_TASK_NAMES - 1 ||
        !atomic_compare_exchange_strong_explicit(&place->state, &expected, CLAIMED, memory_order_relaxed,
                                                 memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&used, 1, memory_order_relaxed);
        return false;
    }
    memcpy(place->name, name, strnlen(name, PIE_AWAIT_NAME_BYTES - 1));
    atomic_store_explicit(&place->state, WRITTEN, memory_order_release);
    return true;
}

uint16_t pie_task_names_intern(const char *name) {
    size_t first = name[0] ? (size_t)hash_of(name) % PLACES : 0;

    if (!name[0])
        return PIE_TASK_UNNAMED;
    for (size_t i = 0; i < PLACES; i++) {
        size_t at = (first + i) % PLACES;
        uint32_t state = atomic_load_explicit(&places[at].state, memory_order_acquire);
        if (state == FREE)
            return claim(&places[at], name) ? (uint16_t)(2 + at) : OTHERS;
        if (state == WRITTEN && strcmp(places[at].name, name) == 0)
            return (uint16_t)(2 + at);
    }
    return OTHERS;
}

const char *pie_task_names_get(uint16_t task) {
    if (task <= PIE_TASK_UNNAMED)
        return NULL;
    return task < OTHERS ? places[task - 2].name : "(other)";
}

void pie_task_names_forget(void) {
    if (atomic_load_explicit(&used, memory_order_relaxed) == 0)
        return; /* the memory was never touched */
    memset(places, 0, sizeof places);
    atomic_store_explicit(&used, 0, memory_order_relaxed);
}

/* How far above the innermost frame the outermost one of this code is. */
static uint8_t steps_up(const struct pie_call_path *path, uint32_t code) {
    size_t i = path->hybrid.depth;

    while (i > 0 &&
           !(pie_cct_key_is_python(path->path[i - 1]) && pie_cct_key_code(path->path[i - 1]) == code))
        i--;
    return i > 0 && i <= PIE_SAMPLE_TASK_UP_UNKNOWN ? (uint8_t)(i - 1) : PIE_SAMPLE_TASK_UP_UNKNOWN;
}

struct pie_sample_task pie_sample_task_find(const struct pie_pystack_ops *ops, uintptr_t tstate,
                                            const struct pie_call_path *path) {
    struct pie_running_task task;
    struct pie_sample_task found = {.name = PIE_TASK_NONE, .up = PIE_SAMPLE_TASK_UP_UNKNOWN};
    enum pie_task_found kind = ops->running_task ? ops->running_task(tstate, &task) : PIE_TASK_FOUND_NONE;

    if (kind == PIE_TASK_FOUND_NONE)
        return found;
    if (kind == PIE_TASK_FOUND_UNREADABLE) {
        found.name = PIE_TASK_UNNAMED;
        return found;
    }
    uint32_t code = task.code ? ops->intern(task.code) : 0;
    if (code && !pie_cct_is_full(path->node))
        found.up = steps_up(path, code);
    found.name = pie_task_names_intern(task.name);
    return found;
}
