/* SPDX-License-Identifier: Apache-2.0 */

/* The children of a node are a skip list sorted by key, whose number of levels falls with the node's depth (PieProf
 * §4.3: near the root a node has many children and is passed by every sample, near the leaves it has few). Each node is
 * one allocation:
 *
 *     header | link[0 … height-1]: next sibling on each level | head[0 … levels-1]: first child on each level
 *
 * Insertion: find the predecessors on all levels, link the new node on level 0 by compare-and-swap (this makes it a
 * child; the order of two threads is decided here), then on the upper ones, which only shorten searches. Nothing is ever
 * unlinked, so there is no ABA and no reclamation; a predecessor stays one unless a closer node comes in between, and
 * then the compare-and-swap fails and the search continues from that predecessor. Lock-free: a thread that stops in the
 * middle (a signal handler of a thread that is descheduled) leaves a list that is complete on level 0.
 *
 * Two threads that add the same key at once: the loser's node stays in the arena unused, 40 bytes each time. */

#include "profiler/cct.h"

#include "profiler/region.h"

#include <errno.h>
#include <stdatomic.h>

struct node {
    uint64_t key;
    uint32_t parent;
    uint16_t depth; /* saturates */
    uint8_t height; /* sibling links */
    uint8_t levels; /* child heads */
    /* Release when a node is linked in, acquire when a link is followed: the node behind a link is complete. */
    _Atomic uint32_t links[];
};

enum { LEVELS_MAX = 6 };

/* Ids count 8-byte units from the arena's start; the root is the arena's second unit so that 0 stays free. */
static struct node *node_at(uint32_t id) {
    return (struct node *)((char *)pie_region_base(PIE_ARENA_CCT) + (size_t)id * 8);
}

static unsigned levels_at(unsigned depth) {
    if (depth < 4)
        return LEVELS_MAX;
    if (depth < 10)
        return 4;
    return 3; /* leaves are instructions: a hot loop has hundreds */
}

/* One node in four rises a level; derived from the key, so that equal runs build equal trees. */
static unsigned height_of(uint64_t key, unsigned levels) {
    uint64_t hash = (key ^ (key >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
    unsigned height = 1;

    for (hash >>= 32; height < levels && (hash & 3) == 0; hash >>= 2)
        height++;
    return height;
}

static uint32_t node_new(uint64_t key, uint32_t parent, unsigned depth, unsigned height) {
    unsigned levels = levels_at(depth);
    struct node *node =
        pie_region_alloc(PIE_ARENA_CCT, sizeof(struct node) + (height + levels) * sizeof(uint32_t));

    if (!node)
        return 0;
    node->key = key;
    node->parent = parent;
    node->depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
    node->height = (uint8_t)height;
    node->levels = (uint8_t)levels;
    return (uint32_t)(((char *)node - (char *)pie_region_base(PIE_ARENA_CCT)) / 8);
}

uint64_t pie_cct_python_key(uint32_t code_id, uint32_t instr_offset) {
    return PIE_CCT_PYTHON_BIT | (uint64_t)code_id << 32 | instr_offset;
}

uint64_t pie_cct_native_key(uintptr_t address) {
    return address & ~PIE_CCT_PYTHON_BIT;
}

bool pie_cct_key_is_python(uint64_t key) {
    return key & PIE_CCT_PYTHON_BIT;
}

uint32_t pie_cct_key_code(uint64_t key) {
    return (uint32_t)((key & ~PIE_CCT_PYTHON_BIT) >> 32);
}

uint32_t pie_cct_key_offset(uint64_t key) {
    return (uint32_t)key;
}

int pie_cct_init(void) {
    if (!pie_region_alloc(PIE_ARENA_CCT, 8))
        return -ENOMEM;
    return node_new(0, 0, 0, 0) == PIE_CCT_ROOT_ID ? 0 : -ENOMEM;
}

/* Walks one level from *slot on to the last link that does not lead past key; returns what that link leads to. */
static uint32_t advance(_Atomic uint32_t **slot, unsigned level, uint64_t key, struct node **pred) {
    uint32_t next = atomic_load_explicit(*slot, memory_order_acquire);

    while (next && node_at(next)->key < key) {
        *pred = node_at(next);
        *slot = &(*pred)->links[level];
        next = atomic_load_explicit(*slot, memory_order_acquire);
    }
    return next;
}

/* Fills slots[level] with the link that leads (or would lead) to key on each level. Returns the child or 0. */
static uint32_t find(struct node *parent, uint64_t key, _Atomic uint32_t *slots[LEVELS_MAX]) {
    struct node *pred = NULL; /* NULL: still at the parent's heads */
    uint32_t next = 0;

    for (unsigned level = parent->levels; level-- > 0;) {
        slots[level] = pred ? &pred->links[level] : &parent->links[parent->height + level];
        next = advance(&slots[level], level, key, &pred);
    }
    return next && node_at(next)->key == key ? next : 0;
}

static void link_upper(struct node *child, uint32_t id, _Atomic uint32_t *slots[LEVELS_MAX]) {
    struct node *pred;

    for (unsigned level = 1; level < child->height; level++) {
        uint32_t next;
        do {
            next = advance(&slots[level], level, child->key, &pred);
            atomic_store_explicit(&child->links[level], next, memory_order_relaxed);
        } while (!atomic_compare_exchange_weak_explicit(slots[level], &next, id, memory_order_release,
                                                        memory_order_relaxed));
    }
}

uint32_t pie_cct_child(uint32_t parent_id, uint64_t key) {
    struct node *parent = node_at(parent_id);
    _Atomic uint32_t *slots[LEVELS_MAX];
    uint32_t id = find(parent, key, slots);

    if (id)
        return id;
    id = node_new(key, parent_id, parent->depth + 1u, height_of(key, parent->levels));
    if (!id)
        return 0;
    struct node *child = node_at(id);
    for (;;) {
        struct node *pred;
        uint32_t next = advance(&slots[0], 0, key, &pred);
        if (next && node_at(next)->key == key)
            return next; /* another thread was first */
        atomic_store_explicit(&child->links[0], next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(slots[0], &next, id, memory_order_release,
                                                  memory_order_relaxed))
            break;
    }
    link_upper(child, id, slots);
    return id;
}

uint32_t pie_cct_parent(uint32_t id) {
    return node_at(id)->parent;
}

uint64_t pie_cct_key(uint32_t id) {
    return node_at(id)->key;
}
