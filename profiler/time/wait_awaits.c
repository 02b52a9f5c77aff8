/* SPDX-License-Identifier: Apache-2.0 */

/* An event loop that has nothing to run stands in its selector, for the sake of all tasks that are suspended then. Each
 * of them has the same share of the time: what the thread waited is divided and not multiplied, so sums stay what they
 * are.
 *
 * Tasks that wait for other tasks have none (gather(), wait(), task groups, `await task`): it is the others that wait
 * for something, and these have it. Where one task awaits others, the context of each of these begins with the
 * awaiter's coroutines, as if it had awaited the coroutine itself. Of many tasks some are taken, from a random place
 * on, and those that wait for them. */

#include "profiler/time/wait_awaits.h"

#include "profiler/base/clocks.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/time/tasks.h"
#include "profiler/time/wait.h"

#include <string.h>

enum {
    FRAMES = 512,     /* of all tasks that are looked at */
    AWAITERS_MAX = 8, /* tasks one of which awaits the next */
    TASKS_MAX = PIE_WAIT_AWAITS_MAX + PIE_WAIT_AWAITS_MAX / 2,
};

struct look {
    const struct pie_pystack_ops *ops;
    struct pie_pyframe frames[FRAMES];
    uint32_t ids[FRAMES]; /* of their code objects; 0: not known */
    struct pie_await awaits[TASKS_MAX];
    size_t n;
};

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool describe(const struct pie_pystack_ops *ops, uint32_t id, const char **ret_file,
                     const char **ret_name) {
    int32_t line;

    return id && ops->describe(id, ret_file, ret_name, &line) == 0;
}

/* asyncio's own loop, by its frames in Python. */
static bool is_idle_loop(const struct pie_pystack_ops *ops, uint64_t select, uint64_t loop) {
    const char *file, *name;

    if (!select || !loop)
        return false;
    return describe(ops, pie_cct_key_code(loop), &file, &name) &&
           strcmp(name, "BaseEventLoop._run_once") == 0 && ends_with(file, "/asyncio/base_events.py") &&
           describe(ops, pie_cct_key_code(select), &file, &name) && ends_with(name, ".select");
}

/* Tasks run few coroutine functions, and reading one's names costs more than finding it again. */
static void intern_all(struct look *look, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < i && look->frames[same].code != look->frames[i].code)
            same++;
        look->ids[i] = same < i ? look->ids[same] : look->ops->intern_by_content(look->frames[i].code, 0);
    }
}

/* Is it in the end of a task group's block? */
static bool waits_for_group(const struct look *look, const struct pie_await *await) {
    const char *file, *name;

    return describe(look->ops, look->ids[await->first + await->count - 1], &file, &name) &&
           ends_with(file, "/asyncio/taskgroups.py");
}

/* Is it the other tasks' time? */
static bool waits_for_tasks(const struct look *look, const struct pie_await *await) {
    const char *file, *name;

    if (await->is_gather)
        return true;
    for (size_t i = 0; i < look->n; i++)
        if (look->awaits[i].task == await->awaits)
            return true;
    if (!describe(look->ops, look->ids[await->first + await->count - 1], &file, &name))
        return false;
    return ends_with(file, "/asyncio/taskgroups.py") ||
           (ends_with(file, "/asyncio/tasks.py") && strcmp(name, "sleep") != 0);
}

/* By the innermost of its coroutines: what asyncio makes of other things is the event loop's to wait for. */
static enum pie_wait_cause cause_of(const struct look *look, const struct pie_await *await) {
    const char *file, *name;

    if (!describe(look->ops, look->ids[await->first + await->count - 1], &file, &name))
        return PIE_WAIT_POLL;
    if (ends_with(file, "/asyncio/tasks.py") && strcmp(name, "sleep") == 0)
        return PIE_WAIT_SLEEP;
    return ends_with(file, "/asyncio/locks.py") || ends_with(file, "/asyncio/queues.py") ? PIE_WAIT_LOCK
                                                                                         : PIE_WAIT_POLL;
}

static struct pie_cct_id append(const struct look *look, const struct pie_await *await,
                                struct pie_cct_id node) {
    for (size_t i = await->first; i < await->first + await->count; i++)
        if (look->ids[i])
            node = pie_cct_child(
                node, pie_cct_python_key(look->ids[i], look->ops->instr_offset(look->frames[i].code,
                                                                               look->frames[i].instr)));
    return node;
}

static bool is_awaiter(const struct look *look, const struct pie_await *of, const struct pie_await *await) {
    if (of == await)
        return false;
    return of->awaits == await->task || of->task == await->awaiter ||
           (await->group && of->self == await->group && waits_for_group(look, of));
}

static const struct pie_await *awaiter_of(const struct look *look, const struct pie_await *await) {
    for (size_t i = 0; i < look->n; i++)
        if (is_awaiter(look, &look->awaits[i], await))
            return &look->awaits[i];
    return NULL;
}

/* The context of the task's first coroutine, which nothing but its awaiters are above. */
static struct pie_cct_id begin_of(const struct look *look, const struct pie_await *await,
                                  struct pie_cct_id above) {
    struct pie_await first = *await;

    first.count = 1;
    return append(look, &first, above);
}

/* ret_begin: of the task itself. */
static struct pie_cct_id context_of(const struct look *look, const struct pie_await *await,
                                    struct pie_cct_id *ret_begin) {
    const struct pie_await *chain[AWAITERS_MAX];
    struct pie_cct_id node = pie_cct_root();
    size_t n = 0;

    for (; await && n < AWAITERS_MAX; await = awaiter_of(look, await))
        chain[n++] = await;
    while (n-- > 0) {
        if (n == 0)
            *ret_begin = begin_of(look, chain[0], node);
        node = append(look, chain[n], node);
    }
    return pie_cct_is_root(node) ? (struct pie_cct_id){0} : node;
}

/* Another one, by what the thread waits for while it runs no task: that may also be a callback that waits for the same
 * by itself, which would hold up the loop. */
static bool is_idle_foreign_loop(const struct pie_pystack_ops *ops, uintptr_t tstate,
                                 enum pie_wait_cause cause) {
    return cause == PIE_WAIT_POLL && ops->foreign_loop && ops->foreign_loop(tstate);
}

uint32_t pie_wait_awaits_find(const struct pie_pystack_ops *ops, uintptr_t tstate, enum pie_wait_cause cause,
                              const uint64_t *keys, size_t n, struct pie_wait_await *ret_awaits) {
    static struct look look; /* collection thread only */
    static uint64_t random;  /* likewise; starts anywhere */
    uint32_t n_awaits = 0;

    if (!ops->awaits ||
        !((n >= 2 && is_idle_loop(ops, keys[0], keys[1])) || is_idle_foreign_loop(ops, tstate, cause)))
        return 0;
    random = (random ^ pie_monotonic_ns()) * 6364136223846793005u + 1442695040888963407u;
    look.ops = ops;
    look.n = ops->awaits(tstate, random >> 32, look.frames, FRAMES, look.awaits, TASKS_MAX);
    if (look.n == 0)
        return 0;
    intern_all(&look, look.awaits[look.n - 1].first + look.awaits[look.n - 1].count);
    for (size_t i = 0; i < look.n && n_awaits < PIE_WAIT_AWAITS_MAX; i++) {
        if (waits_for_tasks(&look, &look.awaits[i]))
            continue;
        struct pie_cct_id begin = {0}, node = context_of(&look, &look.awaits[i], &begin);
        if (!node.value)
            continue;
        ret_awaits[n_awaits++] = (struct pie_wait_await){
            .node = node,
            .coroutine = begin,
            .task = pie_task_names_intern(look.awaits[i].name),
            .cause = (uint8_t)cause_of(&look, &look.awaits[i]),
        };
    }
    return n_awaits;
}
