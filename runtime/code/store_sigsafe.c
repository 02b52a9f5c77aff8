/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/store.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "profiler/base/region.h"
#include "profiler/base/safe_load.h"
#include "profiler/stacks/cct.h"

/* Records are found by content through a hash trie (as siblings are in profiler/stacks/cct_sigsafe.c, which argues its
 * safety) of 64-bit hashes of it, so that a program which compiles the same source again and again fills no memory, and
 * so that a stopped thread's frames, which are read from outside, get the ids that their thread's own samples have. Two
 * contents with one hash would be taken for one; with a million code objects the odds are one in ten million.
 *
 * A record is written once, by the thread that claimed its id, and then published in `index` (release; acquire in
 * pie_code_store_get()) and in the trie. Of two threads that add the same content at once, both get the id of the one
 * that was linked first, and the other's record is unused. Nothing is freed but a whole half, and nothing changed but
 * links and one word: where the collection thread has put what it made of the bytecode. */

enum store_state {
    STORE_NONE = 0, /* zeroed memory */
    STORE_MAKING,
    STORE_READY,
};

struct code_store {
    _Atomic uint32_t state; /* store_state */
    uint32_t ids_max;
    _Atomic uint32_t ids_used;
    _Atomic uint32_t contents; /* the trie's first record; as pie_code_record.siblings */
    /* Offsets from this structure. */
    uint64_t addresses_at, index_at;
};

static_assert(sizeof(struct pie_code_record) == 72, "records lie in shared memory");
static_assert(sizeof(struct code_store) == 32, "the store lies in shared memory");

enum {
    ARENA_BYTES_PER_ENTRY = 128, /* a small arena has small tables */
    SLOTS_MAX = 65536,           /* addresses of code that lives; of more, the rest is found by content */
    RECORD_ALIGN = 8,
    SIBLING_BITS = 2,
};

static uint32_t power_of_two_up_to(size_t limit) {
    uint32_t n = 64;

    while ((size_t)n * 2 <= limit)
        n *= 2;
    return n;
}

static enum pie_arena arena_of(unsigned half) {
    return half ? PIE_ARENA_CODE_OTHER : PIE_ARENA_CODE;
}

static unsigned half_of(uint32_t id) {
    return id & PIE_CCT_CODE_HALF_BIT ? 1 : 0;
}

/* Lays the store out at the start of the arena. The caller owns its making. */
static void make(struct code_store *store, unsigned half) {
    size_t entries = pie_region_size(arena_of(half)) / ARENA_BYTES_PER_ENTRY;
    uint32_t slots = power_of_two_up_to(entries < SLOTS_MAX ? entries : SLOTS_MAX);

    store->ids_max = (uint32_t)entries;
    store->addresses_at = sizeof *store;
    store->index_at = store->addresses_at + pie_code_table_bytes(slots);
    if (!pie_region_alloc(arena_of(half), store->index_at + entries * sizeof(uint32_t)))
        return;
    pie_code_table_init((struct pie_code_table *)((char *)store + store->addresses_at), slots);
    atomic_store_explicit(&store->state, STORE_READY, memory_order_release); /* pairs with get_store() */
}

/* NULL: no region, or another thread is laying it out at this moment. */
static struct code_store *get_store(unsigned half) {
    struct code_store *store = pie_region_base(arena_of(half));
    uint32_t state;

    if (!store)
        return NULL;
    state = atomic_load_explicit(&store->state, memory_order_acquire); /* pairs with make() */
    if (state == STORE_NONE &&
        atomic_compare_exchange_strong_explicit(&store->state, &state, STORE_MAKING, memory_order_relaxed,
                                                memory_order_relaxed)) {
        make(store, half);
        state = atomic_load_explicit(&store->state, memory_order_relaxed);
    }
    return state == STORE_READY ? store : NULL;
}

/* The same, not made here. */
static struct code_store *find_store(unsigned half) {
    struct code_store *store = pie_region_base(arena_of(half));

    return store && atomic_load_explicit(&store->state, memory_order_acquire) == STORE_READY ? store : NULL;
}

static _Atomic uint32_t *index_of(struct code_store *store) {
    return (_Atomic uint32_t *)((char *)store + store->index_at);
}

static struct pie_code_table *addresses_of(struct code_store *store) {
    return store ? (struct pie_code_table *)((char *)store + store->addresses_at) : NULL;
}

struct pie_code_table *pie_code_store_addresses(unsigned half) {
    return addresses_of(find_store(half));
}

struct pie_code_table *pie_code_store_own_addresses(void) {
    return addresses_of(get_store(pie_half_own()));
}

const struct pie_code_record *pie_code_store_get(uint32_t id) {
    struct code_store *store = find_store(half_of(id));
    uint32_t number = id & ~PIE_CCT_CODE_HALF_BIT;

    if (!store || number == 0 || number > store->ids_max)
        return NULL;
    uint32_t at =
        atomic_load_explicit(&index_of(store)[number - 1], memory_order_acquire); /* pairs with publish() */
    return at ? (const struct pie_code_record *)((char *)store + (size_t)at * RECORD_ALIGN) : NULL;
}

/* As above, for the one who writes into it. */
static struct pie_code_record *get_record(uint32_t id) {
    return (struct pie_code_record *)(uintptr_t)pie_code_store_get(id);
}

void pie_code_store_set_owner(uint32_t id, enum pie_code_owner owner) {
    struct pie_code_record *record = get_record(id);

    if (record)
        atomic_store_explicit(&record->owner, owner, memory_order_relaxed);
}

enum pie_code_owner pie_code_store_owner(uint32_t id) {
    const struct pie_code_record *record = pie_code_store_get(id);

    return record ? (enum pie_code_owner)atomic_load_explicit(&record->owner, memory_order_relaxed)
                  : PIE_CODE_OWNER_UNKNOWN;
}

const uint8_t *pie_code_store_keep_operations(uint32_t id, const uint8_t *operations) {
    struct code_store *store = find_store(half_of(id));
    struct pie_code_record *record = get_record(id);
    uint8_t *kept = record ? pie_region_alloc(arena_of(half_of(id)), record->bytecode_units) : NULL;

    if (!kept)
        return NULL;
    memcpy(kept, operations, record->bytecode_units);
    atomic_store_explicit(&record->operations_at, (uint64_t)((char *)kept - (char *)store),
                          memory_order_release); /* pairs with pie_code_store_operations() */
    return kept;
}

const uint8_t *pie_code_store_operations(uint32_t id) {
    struct code_store *store = find_store(half_of(id));
    const struct pie_code_record *record = get_record(id);
    uint64_t at =
        record ? atomic_load_explicit(&record->operations_at, memory_order_acquire) : 0; /* pairs with keep */

    return at ? (const uint8_t *)store + at : NULL;
}

static bool hash_string(uint64_t *hash, const struct pie_pystr *string) {
    *hash += string->width * 2 + string->is_cut;
    return pie_pystr_hash(hash, string->data, pie_pystr_size(string));
}

static bool hash_content(const struct pie_code_content *content, uint64_t *ret_hash) {
    uint64_t hash = (uint64_t)(uint32_t)content->first_line << 32 | content->units;

    if (!hash_string(&hash, &content->file) || !hash_string(&hash, &content->qualname) ||
        !hash_string(&hash, &content->linetable))
        return false;
    *ret_hash = hash | 1 << 3; /* a table's keys are above 2 */
    return true;
}

/* Fills a record's data; false if the content became unreadable. */
static bool copy_content(const struct pie_code_content *content, struct pie_code_record *record) {
    char *file = record->data, *qualname = file + record->file_bytes;
    char *linetable = qualname + record->qualname_bytes;
    char *exceptiontable = linetable + record->linetable_bytes;
    uint8_t *bytecode = (uint8_t *)exceptiontable + record->exceptiontable_bytes;

    return pie_pystr_to_utf8(&content->file, file) != SIZE_MAX &&
           pie_pystr_to_utf8(&content->qualname, qualname) != SIZE_MAX &&
           pie_safe_copy(linetable, (const void *)content->linetable.data, record->linetable_bytes) &&
           pie_safe_copy(exceptiontable, (const void *)content->exceptiontable.data,
                         record->exceptiontable_bytes) &&
           pie_code_content_copy_bytecode(content, bytecode);
}

/* Without an id, in no index; NULL: no room. */
static struct pie_code_record *make_record(const struct pie_code_content *content, uint64_t hash,
                                           size_t file_bytes, size_t qualname_bytes) {
    uint32_t bytecode_units = pie_code_content_bytecode_units(content);
    struct pie_code_record *record =
        pie_region_alloc(arena_of(pie_half_own()),
                         sizeof *record + file_bytes + qualname_bytes + content->linetable.units +
                             content->exceptiontable.units + (size_t)bytecode_units * PIE_CODE_UNIT_BYTES);
    if (!record)
        return NULL;
    record->first_line = content->first_line;
    record->units = content->units;
    record->hash = hash;
    record->file_bytes = (uint32_t)file_bytes;
    record->qualname_bytes = (uint32_t)qualname_bytes;
    record->linetable_bytes = content->linetable.units;
    record->exceptiontable_bytes = content->exceptiontable.units;
    record->bytecode_units = bytecode_units;
    record->flags = (content->file.is_cut ? PIE_CODE_FILE_CUT : 0) |
                    (content->qualname.is_cut ? PIE_CODE_QUALNAME_CUT : 0) |
                    (content->linetable.is_cut ? PIE_CODE_LINETABLE_CUT : 0);
    return record;
}

static uint32_t units_at(const struct code_store *store, const struct pie_code_record *record) {
    return (uint32_t)(((const char *)record - (const char *)store) / RECORD_ALIGN);
}

/* Gives the record an id and makes it visible under it; false: no id left. */
static bool publish(struct code_store *store, struct pie_code_record *record) {
    uint32_t used = atomic_load_explicit(&store->ids_used, memory_order_relaxed);

    do {
        if (used >= store->ids_max)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&store->ids_used, &used, used + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    record->id = (used + 1) | (pie_half_own() ? PIE_CCT_CODE_HALF_BIT : 0);
    atomic_store_explicit(&index_of(store)[used], units_at(store, record),
                          memory_order_release); /* pairs with pie_code_store_get() */
    return true;
}

/* The record with this hash; without one NULL, and *ret_link is the link where it belongs, *ret_rest the hash's bits
 * that chose no link yet. Goes on from where they are. */
static struct pie_code_record *find_record(struct code_store *store, uint64_t hash,
                                           _Atomic uint32_t **ret_link, uint64_t *ret_rest) {
    for (;;) {
        uint32_t at = atomic_load_explicit(*ret_link, memory_order_acquire);
        struct pie_code_record *record =
            (struct pie_code_record *)((char *)store + (size_t)at * RECORD_ALIGN);
        if (!at || record->hash == hash)
            return at ? record : NULL;
        *ret_link = &record->siblings[*ret_rest >> (64 - SIBLING_BITS)];
        *ret_rest <<= SIBLING_BITS;
    }
}

uint32_t pie_code_store_find(const struct pie_code_content *content) {
    struct code_store *store = get_store(pie_half_own());
    uint64_t hash, rest;

    if (!store || !hash_content(content, &hash))
        return 0;
    _Atomic uint32_t *link = &store->contents;
    rest = hash;
    const struct pie_code_record *record = find_record(store, hash, &link, &rest);
    return record ? record->id : 0;
}

/* Puts a record with an id into the trie; the id of the content, which another thread may have added meanwhile. */
static uint32_t link_in(struct code_store *store, struct pie_code_record *record, _Atomic uint32_t *link,
                        uint64_t rest) {
    for (uint32_t none = 0; !atomic_compare_exchange_strong_explicit(
             link, &none, units_at(store, record), memory_order_release, memory_order_relaxed);
         none = 0) {
        const struct pie_code_record *found = find_record(store, record->hash, &link, &rest);
        if (found)
            return found->id;
    }
    return record->id;
}

static size_t record_bytes(const struct pie_code_record *record) {
    return sizeof *record + record->file_bytes + record->qualname_bytes + record->linetable_bytes +
           record->exceptiontable_bytes + (size_t)record->bytecode_units * PIE_CODE_UNIT_BYTES;
}

uint32_t pie_code_store_add(const struct pie_code_content *content) {
    struct code_store *store = get_store(pie_half_own());
    uint64_t hash, rest;

    if (!store || !hash_content(content, &hash))
        return 0;
    _Atomic uint32_t *link = &store->contents;
    rest = hash;
    struct pie_code_record *found = find_record(store, hash, &link, &rest);
    if (found)
        return found->id;
    size_t file = pie_pystr_to_utf8(&content->file, NULL),
           qualname = pie_pystr_to_utf8(&content->qualname, NULL);
    if (file == SIZE_MAX || qualname == SIZE_MAX)
        return 0;
    struct pie_code_record *record = make_record(content, hash, file + 1, qualname + 1);
    if (!record)
        return PIE_CCT_CODE_FULL;
    if (!copy_content(content, record))
        return 0;
    if (!publish(store, record))
        return PIE_CCT_CODE_FULL;
    return link_in(store, record, link, rest);
}

uint32_t pie_code_store_again(uint32_t id) {
    struct code_store *store = get_store(pie_half_own());
    const struct pie_code_record *before = pie_code_store_get(id);

    if (!store || !before)
        return 0;
    _Atomic uint32_t *link = &store->contents;
    uint64_t rest = before->hash;
    const struct pie_code_record *found = find_record(store, before->hash, &link, &rest);
    if (found)
        return found->id;
    size_t bytes = record_bytes(before);
    struct pie_code_record *record = pie_region_alloc(arena_of(pie_half_own()), bytes);
    if (!record)
        return PIE_CCT_CODE_FULL;
    memcpy(record, before, bytes);
    memset(record->siblings, 0, sizeof record->siblings);
    record->operations_at = 0;
    return publish(store, record) ? link_in(store, record, link, rest) : PIE_CCT_CODE_FULL;
}

size_t pie_code_store_bytes(void) {
    unsigned half = pie_half_current();
    const struct code_store *store = find_store(half);
    size_t tables = store ? store->index_at + store->ids_max * sizeof(uint32_t) : 0;

    return store ? pie_region_used(arena_of(half)) - tables : 0;
}
