/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/basic_block.h"

#include "profiler/base/region.h"
#include "profiler/code/basic_block_table.h"
#include "profiler/code/decode.h"
#include "profiler/code/generation.h"
#include "profiler/code/modules.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Prologues, spills and jumps lie between; a block further away is hardly the same work. */
enum {
    BLOCKS_NEAR_MAX = 8,
    BLOCK_BYTES_MAX =
        sizeof(struct pie_basic_block) + PIE_BASIC_BLOCK_ACCESSES_MAX * sizeof(struct pie_access),
};

/* Made by the first who learns, the collection thread, of all that the arena has: pages that are not touched cost
 * nothing. */
static struct pie_basic_block_table *table_made(void) {
    struct pie_basic_block_table *table = pie_basic_block_table();
    size_t size = pie_region_size(PIE_ARENA_BASIC_BLOCKS) & ~(size_t)7;

    if (table || size < sizeof *table + 2 * BLOCK_BYTES_MAX ||
        !(table = pie_region_alloc(PIE_ARENA_BASIC_BLOCKS, size)))
        return table;
    table->half_bytes = (size - sizeof *table) / 2 & ~(uint64_t)7;
    table->since = pie_code_generation();
    atomic_store_explicit(&table->rewrites, pie_code_modules_rewrites(), memory_order_relaxed);
    return table;
}

uint32_t pie_basic_block_enter(struct pie_basic_block_table *table, const struct pie_basic_block *block) {
    uint32_t half = atomic_load_explicit(&table->generation, memory_order_relaxed) & 1;
    uint32_t number = table->blocks++;

    atomic_store_explicit(&table->offsets[half][number],
                          (uint32_t)((const char *)block - (const char *)table), memory_order_relaxed);
    return half << PIE_BASIC_BLOCK_SLOTS_BITS | number;
}

int pie_basic_block_publish(struct pie_basic_block_table *table, uint64_t ip, uint32_t number) {
    uint32_t at = pie_basic_block_hash(ip);

    for (int i = 0; i < PIE_BASIC_BLOCK_PROBES_MAX; i++, at = (at + 1) & (PIE_BASIC_BLOCK_SLOTS - 1)) {
        if (atomic_load_explicit(&table->slots[at], memory_order_relaxed) != 0)
            continue;
        atomic_store_explicit(&table->slots[at], ip << PIE_BASIC_BLOCK_NUMBER_BITS | number,
                              memory_order_release); /* pairs with pie_basic_block_number() */
        table->filled++;
        return 0;
    }
    return -ENOMEM;
}

static struct pie_basic_block *make(struct pie_basic_block_table *table, const struct pie_access *accesses,
                                    size_t count) {
    uint32_t half = atomic_load_explicit(&table->generation, memory_order_relaxed) & 1;
    struct pie_basic_block *block =
        (struct pie_basic_block *)((char *)(table + 1) + half * table->half_bytes + table->used_bytes);
    size_t bytes = sizeof *block + count * sizeof *accesses;

    if (bytes > table->half_bytes - table->used_bytes)
        return NULL;
    table->used_bytes += bytes;
    block->count = (uint32_t)count;
    memcpy(block->accesses, accesses, count * sizeof *accesses);
    return block;
}

/* The block around ip; if nothing in it can be watched, one of those that follow, or that lie before it. */
static int decode_near(uint64_t ip, struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX],
                       struct pie_decode_basic_block *ret_block) {
    struct pie_decode_basic_block found = {.next = ip};
    uint64_t before = 0;
    int r = 0;

    (void)pie_decode_executed(ip); /* else it has no block */

    for (int i = 0; i < BLOCKS_NEAR_MAX && r == 0 && found.count == 0 && found.next; i++) {
        r = pie_decode_basic_block(found.next, accesses, PIE_BASIC_BLOCK_ACCESSES_MAX, &found);
        before = i == 0 ? found.before : before;
    }
    for (int i = 0; i < BLOCKS_NEAR_MAX && r == 0 && found.count == 0 && before; i++, before = found.before)
        r = pie_decode_basic_block(before, accesses, PIE_BASIC_BLOCK_ACCESSES_MAX, &found);
    *ret_block = found;
    return r == -E2BIG && found.count > 0 ? 0 : r;
}

/* There is no room for more. What is known of libraries that went may be the reason. */
static bool is_full(struct pie_basic_block_table *table) {
    if (table->filled < PIE_BASIC_BLOCK_SLOTS_FILLED_MAX && table->blocks < PIE_BASIC_BLOCK_SLOTS &&
        table->half_bytes - table->used_bytes >= BLOCK_BYTES_MAX)
        return false;
    if (table->since == pie_code_generation())
        return true;
    pie_basic_blocks_forget();
    return false;
}

static int enter(struct pie_basic_block_table *table, uint64_t ip, unsigned module, uint32_t generation) {
    struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX];
    struct pie_decode_basic_block found;
    int error = decode_near(ip, accesses, &found);

    if (pie_code_module_at((uintptr_t)ip) != module || !pie_basic_block_table_is_current(table))
        return -EAGAIN; /* what was decoded may be another's */
    /* another address of it may have been asked for before */
    int32_t number = error == 0 ? pie_basic_block_number(found.low, module) : -1;
    if (number < 0) {
        struct pie_basic_block *block = make(table, accesses, error == 0 ? found.count : 0);
        if (!block)
            return -ENOMEM;
        block->module = module;
        block->generation = generation;
        number = (int32_t)pie_basic_block_enter(table, block);
        if (error == 0 && found.low != ip && pie_basic_block_publish(table, found.low, (uint32_t)number) < 0)
            return -ENOMEM;
    }
    int r = pie_basic_block_publish(table, ip, (uint32_t)number);
    return r < 0 ? r : error;
}

int pie_basic_block_learn(uint64_t ip) {
    struct pie_basic_block_table *table = table_made();
    uint32_t generation = pie_code_generation();

    if (!table || ip >> PIE_BASIC_BLOCK_IP_BITS != 0 || is_full(table))
        return -ENOMEM;
    if (!pie_basic_block_table_is_current(table))
        return -EAGAIN; /* code was changed just now: first forget what is known of it */
    unsigned module = pie_code_module_at((uintptr_t)ip);
    if (module == PIE_CODE_MODULE_NOWHERE)
        return -ENXIO;
    return pie_basic_block_find(ip, module) ? 0 : enter(table, ip, module, generation);
}

void pie_basic_blocks_refresh(void) {
    const struct pie_basic_block_table *table = pie_basic_block_table();

    if (table && !pie_basic_block_table_is_current(table))
        pie_basic_blocks_forget();
}

void pie_basic_blocks_forget(void) {
    struct pie_basic_block_table *table = pie_basic_block_table();

    if (!table)
        return;
    uint32_t rewrites = pie_code_modules_rewrites();
    table->since = pie_code_generation();
    for (uint32_t i = 0; i < PIE_BASIC_BLOCK_SLOTS; i++)
        atomic_store_explicit(&table->slots[i], 0, memory_order_relaxed);
    table->filled = 0;
    table->blocks = 0;
    table->used_bytes = 0;
    atomic_store_explicit(&table->rewrites, rewrites, memory_order_release);
    atomic_fetch_add_explicit(&table->generation, 1,
                              memory_order_release); /* pairs with pie_basic_block_generation() */
}
