/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/process/table.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/base/clocks.h"
#include "profiler/process/table_memory.h"

/* States stand apart from the entries, so that looking for one touches little memory. FREE to CLAIMED (acquire) by who
 * starts a child, CLAIMED to LIVE (release) when what the parent knows is filled in, LIVE to TAKEN (acquire) by one of
 * the collection threads, and back to FREE (release). Progress: lock-free; who dies between two states leaves an entry
 * that is never used again. */

struct pie_process_table_here *pie_process_table_here; /* set once, before Python starts */

static struct pie_process_entry *own; /* set anew in each forked child */

/* NULL: there is none, or this is a child without it. */
static struct pie_process_table *table_here(void) {
    struct pie_process_table_here *here = pie_process_table_here;

    return here ? atomic_load_explicit(&here->table, memory_order_relaxed) : NULL;
}

static size_t index_of(const struct pie_process_entry *entry) {
    return (size_t)(entry - table_here()->entries);
}

static void raise_high(size_t count) {
    struct pie_process_table *table = table_here();
    uint32_t high = atomic_load_explicit(&table->high, memory_order_relaxed);

    while (high < count && !atomic_compare_exchange_weak_explicit(&table->high, &high, (uint32_t)count,
                                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

static struct pie_process_entry *find_free(void) {
    struct pie_process_table *table = table_here();

    for (size_t i = 0; table && i < PIE_PROCESS_TABLE_MAX; i++) {
        uint32_t state = PIE_PROCESS_FREE;
        if (atomic_load_explicit(&table->states[i], memory_order_relaxed) == PIE_PROCESS_FREE &&
            atomic_compare_exchange_strong_explicit(&table->states[i], &state, PIE_PROCESS_CLAIMED,
                                                    memory_order_acquire, memory_order_relaxed)) {
            raise_high(i + 1);
            return &table->entries[i];
        }
    }
    return NULL;
}

static void publish(struct pie_process_entry *entry) {
    atomic_store_explicit(&table_here()->states[index_of(entry)], PIE_PROCESS_LIVE, memory_order_release);
}

struct pie_process_entry *pie_process_claim(int32_t parent_pid) {
    struct pie_process_entry *entry = find_free();

    if (!entry)
        return NULL;
    entry->parent_pid = parent_pid;
    entry->started_ns = pie_realtime_ns();
    entry->argv_words = 0;
    atomic_store_explicit(&entry->pid, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->own_pid, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->flags, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->write_error, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->ended_ns, 0, memory_order_relaxed);
    publish(entry);
    return entry;
}

void pie_process_release(struct pie_process_entry *entry) {
    if (entry)
        atomic_store_explicit(&table_here()->states[index_of(entry)], PIE_PROCESS_FREE, memory_order_release);
}

/* Parent and child both have a last word; who comes second makes the entry free. */
static void last_word(struct pie_process_entry *entry, uint32_t flag) {
    const uint32_t both = PIE_PROCESS_PARENT_KNOWS | PIE_PROCESS_DONE;
    uint32_t before = atomic_fetch_or_explicit(&entry->flags, flag, memory_order_acq_rel);

    if ((before & both) != both && ((before | flag) & both) == both && pie_process_take(entry))
        pie_process_release(entry);
}

static void copy_argv(struct pie_process_entry *entry, char *const *argv) {
    static const char cut[] = "…";
    size_t used = 0;

    entry->argv_words = 0;
    for (argv += argv && *argv ? 1 : 0; argv && *argv; argv++) {
        size_t size = strlen(*argv) + 1;
        bool fits = used + size + sizeof cut <= sizeof entry->argv;
        memcpy(entry->argv + used, fits ? *argv : cut, fits ? size : sizeof cut);
        entry->argv_words++;
        used += size;
        if (!fits)
            break;
    }
}

void pie_process_executes(struct pie_process_entry *entry, int32_t pid, char *const *argv) {
    if (!entry)
        return;
    copy_argv(entry, argv);
    if (entry != own) {
        atomic_store_explicit(&entry->own_pid, pid, memory_order_relaxed);
        atomic_store_explicit(&entry->pid, pid, memory_order_release);
        atomic_fetch_or_explicit(&entry->flags, PIE_PROCESS_PARENT_KNOWS, memory_order_relaxed);
    } else {
        entry->started_ns = pie_realtime_ns();
    }
    atomic_fetch_and_explicit(&entry->flags, ~(uint32_t)PIE_PROCESS_HAS_ROW, memory_order_relaxed);
    atomic_fetch_or_explicit(&entry->flags, PIE_PROCESS_EXECED, memory_order_release);
}

void pie_process_forked(struct pie_process_entry *entry, int32_t pid) {
    if (!entry)
        return;
    atomic_store_explicit(&entry->pid, pid, memory_order_release);
    last_word(entry, PIE_PROCESS_PARENT_KNOWS);
}

void pie_process_enter(struct pie_process_entry *entry) {
    int32_t pid, unknown = 0;

    own = entry;
    if (!entry)
        return;
    pid = (int32_t)syscall(SYS_getpid);
    atomic_store_explicit(&entry->own_pid, pid, memory_order_relaxed);
    /* Somebody may wait for the child before its parent has said who it is. */
    atomic_compare_exchange_strong_explicit(&entry->pid, &unknown, pid, memory_order_release,
                                            memory_order_relaxed);
}

struct pie_process_entry *pie_process_own(void) {
    return table_here() ? own : NULL;
}

void pie_process_has_row(void) {
    struct pie_process_entry *entry = pie_process_own();

    if (entry)
        atomic_fetch_or_explicit(&entry->flags, PIE_PROCESS_HAS_ROW, memory_order_relaxed);
}

void pie_process_lost(int error) {
    struct pie_process_entry *entry = pie_process_own();

    if (entry)
        atomic_store_explicit(&entry->write_error, error, memory_order_relaxed);
}

void pie_process_done(void) {
    struct pie_process_entry *entry = pie_process_own();

    own = NULL;
    if (entry)
        last_word(entry, PIE_PROCESS_DONE);
}

void pie_process_ended(int32_t pid, int wait_status) {
    struct pie_process_table *table = table_here();
    uint32_t high = table ? atomic_load_explicit(&table->high, memory_order_relaxed) : 0;

    for (size_t i = 0; i < high; i++) {
        struct pie_process_entry *entry = &table->entries[i];
        if (atomic_load_explicit(&table->states[i], memory_order_acquire) != PIE_PROCESS_LIVE ||
            atomic_load_explicit(&entry->pid, memory_order_acquire) != pid ||
            atomic_load_explicit(&entry->ended_ns, memory_order_relaxed) != 0)
            continue;
        atomic_store_explicit(&entry->wait_status, wait_status, memory_order_relaxed);
        atomic_store_explicit(&entry->ended_ns, pie_realtime_ns(), memory_order_release);
        return;
    }
}

struct pie_process_entry *pie_process_next(size_t *index) {
    struct pie_process_table *table = table_here();
    uint32_t high = table ? atomic_load_explicit(&table->high, memory_order_relaxed) : 0;

    while (*index < high) {
        size_t i = (*index)++;
        if (atomic_load_explicit(&table->states[i], memory_order_acquire) == PIE_PROCESS_LIVE)
            return &table->entries[i];
    }
    return NULL;
}

bool pie_process_take(struct pie_process_entry *entry) {
    uint32_t state = PIE_PROCESS_LIVE;

    return atomic_compare_exchange_strong_explicit(&table_here()->states[index_of(entry)], &state,
                                                   PIE_PROCESS_TAKEN, memory_order_acquire,
                                                   memory_order_relaxed);
}
