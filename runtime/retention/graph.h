/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/retention/retention.h"

struct _object;
struct _typeobject;

/* One lookup of runtime/retention/retention.h, between its files. Context of all here: gil. */

enum {
    PIE_RETENTION_NODES_MAX = 4096,
    PIE_RETENTION_SLOTS = 4 * PIE_RETENTION_NODES_MAX,
    PIE_RETENTION_MODULES_MAX = 8192,
    PIE_RETENTION_BLOCK_SLOTS = 8 * PIE_RETENTION_BLOCKS_MAX,
    PIE_RETENTION_NONE = -1, /* no node, no block, no slot */
};

/* The possible ends of a path, best last. */
enum pie_retention_root {
    PIE_RETENTION_NO_ROOT,
    PIE_RETENTION_GLOBALS,   /* of a function, where no module has them */
    PIE_RETENTION_TEMPORARY, /* on a frame's evaluation stack */
    PIE_RETENTION_LOCAL,     /* of a frame that runs */
    PIE_RETENTION_LASTING,   /* the following do not go away by themselves */
    PIE_RETENTION_FUNCTION = PIE_RETENTION_LASTING,
    PIE_RETENTION_CLASS,
    PIE_RETENTION_MODULE,
};

/* A found object or one that leads to it. */
struct pie_retention_node {
    uintptr_t key;            /* the object's address; of a frame: its slot's, and 1 */
    struct _object *object;   /* of a frame: its code */
    struct _object *function; /* of a frame: the function it runs, or NULL */
    uint64_t blocks;          /* bits of the blocks that it leads to */
    int32_t child;       /* the next node towards the block; PIE_RETENTION_NONE: it is the object itself */
    int32_t slot;        /* of a frame: where; PIE_RETENTION_NONE: in its dictionary of locals */
    uint32_t references; /* to it, as far as they have been seen */
    uint8_t level; /* the pass that found it; PIE_RETENTION_LEVEL_DONE: all that refers to it is known */
    uint8_t root;  /* enum pie_retention_root */
    bool is_block; /* the object itself is in a block */
    bool is_looked_into; /* an untracked one */
};

enum { PIE_RETENTION_LEVEL_DONE = 255 };

struct pie_retention_search {
    /* the blocks */
    uintptr_t blocks[PIE_RETENTION_BLOCKS_MAX];
    size_t count;
    int8_t block_slots[PIE_RETENTION_BLOCK_SLOTS]; /* open addressing; PIE_RETENTION_NONE: free */

    /* the graph, as far as it leads to them */
    struct pie_retention_node nodes[PIE_RETENTION_NODES_MAX];
    int32_t n_nodes;
    uint16_t slots[PIE_RETENTION_SLOTS]; /* node + 1, by address */
    bool is_full;                        /* something was left out */

    /* the pass */
    uint8_t level;
    int depth;                /* of untracked containers that are being looked into */
    struct _object *referrer; /* whose references are being visited; NULL: those of the frame */
    uintptr_t frame_slot;     /* address of the frame's slot, to tell them apart */
    int32_t slot;
    struct _object *frame_code, *frame_function;

    /* its end */
    uint64_t deadline_ns;
    uint32_t until_clock;
    bool is_late;

    struct _typeobject *ndarray;  /* NULL: NumPy is not loaded */
    struct _typeobject *ordinary; /* the last type that was no deque; they come in flocks */
    struct {
        struct _object *dict, *module;
    } modules[PIE_RETENTION_MODULES_MAX]; /* open addressing */
};

/* --- retention/graph.c --- */

void pie_retention_set_blocks(struct pie_retention_search *search, const uintptr_t *blocks, size_t count);

/* Finds out from sys.modules which dictionaries are modules'. */
void pie_retention_set_modules(struct pie_retention_search *search);

/* The block that begins at this address, or PIE_RETENTION_NONE. */
int pie_retention_find_block(const struct pie_retention_search *search, uintptr_t address);

/* The node of an object, or PIE_RETENTION_NONE. */
int32_t pie_retention_find_node(const struct pie_retention_search *search, uintptr_t key);

/* Notes that `object` is in a block (is_block), or only points to one. level: of a new node. Returns its node or
 * PIE_RETENTION_NONE. */
int32_t pie_retention_add_owner(struct pie_retention_search *search, struct _object *object, int block,
                                bool is_block, uint8_t level);

/* Notes that search->referrer, or the frame, refers to this node. */
void pie_retention_refer(struct pie_retention_search *search, int32_t child);

/* Notes that the frame's evaluation stack may refer to it. */
void pie_retention_refer_from_stack(struct pie_retention_search *search, int32_t child);

/* --- retention/memory.c --- */

/* Looks for words in the object's own memory that point to a block. Returns its node, or PIE_RETENTION_NONE. level: as
 * for pie_retention_add_owner(). */
int32_t pie_retention_look_at_memory(struct pie_retention_search *search, struct _object *object,
                                     uint8_t level);

/* Visits the objects that an array refers to: NumPy's type does not. As tp_traverse. */
int pie_retention_visit_array(struct _object *array, int (*visit)(struct _object *, void *), void *arg);

/* --- retention/names.c --- */

struct pie_retention_text {
    char *text;
    size_t size, used;
};

void pie_retention_put(struct pie_retention_text *text, const char *words);
void pie_retention_put_string(struct pie_retention_text *text, struct _object *string);
void pie_retention_put_type(struct pie_retention_text *text, struct _typeobject *type);
/* A function, or another object with a __qualname__ in its dictionary. */
void pie_retention_put_function(struct pie_retention_text *text, struct _object *function);
void pie_retention_put_module(struct pie_retention_text *text, struct _object *module);

/* The value of a name in a dictionary, borrowed; NULL. */
struct _object *pie_retention_get(struct _object *dict, const char *name);

/* The first name that has this value in a dictionary, borrowed; NULL. */
struct _object *pie_retention_name_in(struct _object *dict, struct _object *value);

/* The dictionary of an object's attributes, borrowed; NULL. */
struct _object *pie_retention_namespace(struct _object *object);

/* The attribute of an object that has this value: a str, borrowed, or a name in C. False: there is none. */
bool pie_retention_attribute(struct _object *object, struct _object *value, struct _object **ret_name,
                             const char **ret_words);

/* The name of a frame's i-th local variable, borrowed; NULL. */
struct _object *pie_retention_local_name(struct _object *code, ptrdiff_t i);

/* functools.lru_cache's. */
bool pie_retention_is_lru_cache(struct _object *object);

/* --- retention/text.c --- */

/* Writes the path from the block up to this node. */
void pie_retention_describe(const struct pie_retention_search *search, int32_t node,
                            struct pie_retention_text *text);

/* Describes objects that only they themselves hold. */
void pie_retention_describe_cycle(const struct pie_retention_search *search, struct pie_retention_text *text);
