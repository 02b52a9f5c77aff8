/* SPDX-License-Identifier: Apache-2.0 */

/* The children of a node are a hash trie: the parent's `children` leads to one of them, and each has four links to
 * siblings. A search takes two bits of the key's hash at each step to choose the link, and ends at the node with the
 * key or at an empty link, which is where such a node belongs. The hash is a bijection, so two keys part ways after 32
 * steps at the latest; a million siblings are some eleven steps deep. PieProf (§4.3) sorts children in skip lists whose
 * height falls with the depth, since wide nodes are near the root; but programs that make code at run time are wide
 * anywhere, and a list of three levels took 338 us to insert into with 200 000 children.
 *
 * Insertion is one compare-and-swap of an empty link, which decides the order of two threads. A link is never changed
 * again, so there is no ABA and no reclamation. Lock-free: a thread that stops in the middle (a signal handler of a
 * thread that is descheduled) leaves a whole tree, and a failed swap means that another thread has inserted.
 *
 * Two threads that add the same key at once: the loser's node stays in the arena unused, 32 bytes each time. */

#include "profiler/stacks/cct.h"

#include "profiler/base/hash.h"
#include "profiler/base/region.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIBLING_BITS = 2, SIBLINGS = 1 << SIBLING_BITS };

struct node {
    uint64_t key;
    struct pie_cct_id parent;
    /* Links are ids. Release when a node is linked in, acquire when a link is followed: the node behind it is
     * complete. */
    _Atomic uint32_t children;
    _Atomic uint32_t siblings[SIBLINGS];
};

static_assert(sizeof(struct node) == 32, "nodes lie in shared memory");

static enum pie_arena arena_of(unsigned half) {
    return half ? PIE_ARENA_CCT_OTHER : PIE_ARENA_CCT;
}

static char *base_of(struct pie_cct_id id) {
    return pie_region_base(arena_of(pie_cct_half(id)));
}

/* Ids count 8-byte units from the arena's start; the root is the arena's second unit so that 0 stays free. */
static struct node *node_from(char *base, struct pie_cct_id id) {
    return (struct node *)(base + (size_t)(id.value & ~PIE_CCT_HALF_BIT) * 8);
}

static struct node *node_at(struct pie_cct_id id) {
    return node_from(base_of(id), id);
}

static struct pie_cct_id id_in(unsigned half, uint32_t value) {
    return (struct pie_cct_id){value | half << 31};
}

/* inline: else gcc 12 makes a call of it, some 20 instructions a node. */
static inline struct pie_cct_id node_new(unsigned half, uint64_t key, struct pie_cct_id parent) {
    struct node *node = pie_region_alloc(arena_of(half), sizeof *node);

    if (!node)
        return (struct pie_cct_id){0};
    node->key = key;
    node->parent = parent;
    return id_in(half, (uint32_t)(((char *)node - (char *)pie_region_base(arena_of(half))) / 8));
}

uint64_t pie_cct_python_key(uint32_t code_id, uint32_t instr_offset) {
    return PIE_CCT_PYTHON_BIT | (uint64_t)code_id << 32 | instr_offset;
}

uint64_t pie_cct_native_key(uintptr_t address) {
    return address & ((UINT64_C(1) << PIE_CCT_ADDRESS_BITS) - 1);
}

uint64_t pie_cct_module_key(unsigned module, uintptr_t address) {
    return (uint64_t)module << PIE_CCT_ADDRESS_BITS | pie_cct_native_key(address);
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

unsigned pie_cct_key_module(uint64_t key) {
    return (unsigned)((key & ~PIE_CCT_PYTHON_BIT) >> PIE_CCT_ADDRESS_BITS);
}

uintptr_t pie_cct_key_address(uint64_t key) {
    return pie_cct_native_key(key);
}

/* The node for what has no room is made first, while there is some. */
int pie_cct_make(unsigned half) {
    const struct pie_cct_id none = {0};

    if (!pie_region_alloc(arena_of(half), 8))
        return -ENOMEM;
    struct pie_cct_id root = node_new(half, 0, none);
    if (!pie_cct_is_root(root))
        return -ENOMEM;
    return pie_cct_is_full(node_new(half, pie_cct_python_key(PIE_CCT_CODE_FULL, 0), root)) ? 0 : -ENOMEM;
}

int pie_cct_init(void) {
    pie_half_set(0);
    pie_half_enter();
    return pie_cct_make(0);
}

struct pie_cct_id pie_cct_root(void) {
    return id_in(pie_half_own(), PIE_CCT_ROOT_ID);
}

/* Each step is invertible, and the upper bits depend on all bits of the key. */
static uint64_t hash_of(uint64_t key) {
    key ^= key >> 32;
    key *= PIE_HASH_MULTIPLIER;
    key ^= key >> 29;
    return key * UINT64_C(0xbf58476d1ce4e5b9);
}

struct pie_cct_id pie_cct_child(struct pie_cct_id parent, uint64_t key) {
    char *base = base_of(parent);
    _Atomic uint32_t *link = &node_from(base, parent)->children;
    uint64_t hash = hash_of(key);
    struct pie_cct_id made = {0};

    if (pie_cct_is_full(parent))
        return parent;
    for (;; hash <<= SIBLING_BITS) {
        struct pie_cct_id id = {atomic_load_explicit(link, memory_order_acquire)};
        if (!id.value) {
            if (!made.value && !(made = node_new(pie_cct_half(parent), key, parent)).value)
                return id_in(pie_cct_half(parent), PIE_CCT_FULL_ID);
            if (atomic_compare_exchange_strong_explicit(link, &id.value, made.value, memory_order_release,
                                                        memory_order_acquire))
                return made; /* else id is what another thread has put here */
        }
        struct node *found = node_from(base, id);
        if (found->key == key)
            return id;
        link = &found->siblings[hash >> (64 - SIBLING_BITS)];
    }
}

struct pie_cct_id pie_cct_parent(struct pie_cct_id id) {
    return node_at(id)->parent;
}

uint64_t pie_cct_key(struct pie_cct_id id) {
    return node_at(id)->key;
}
