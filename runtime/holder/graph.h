/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/holder/holder.h"

struct _object;
struct _typeobject;

/* One lookup of runtime/holder/holder.h, between its files. Context of all here: gil. */

enum {
    PIE_HOLDER_NODES_MAX = 4096,
    PIE_HOLDER_SLOTS = 4 * PIE_HOLDER_NODES_MAX,
    PIE_HOLDER_MODULES_MAX = 8192,
    PIE_HOLDER_BLOCK_SLOTS = 8 * PIE_HOLDER_BLOCKS_MAX,
    PIE_HOLDER_NONE = -1, /* no node, no block, no slot */
};

/* The possible ends of a path, best last. */
enum pie_holder_root {
    PIE_HOLDER_NO_ROOT,
    PIE_HOLDER_GLOBALS,   /* of a function, where no module has them */
    PIE_HOLDER_TEMPORARY, /* on a frame's evaluation stack */
    PIE_HOLDER_LOCAL,     /* of a frame that runs */
    PIE_HOLDER_LASTING,   /* the following do not go away by themselves */
    PIE_HOLDER_FUNCTION = PIE_HOLDER_LASTING,
    PIE_HOLDER_CLASS,
    PIE_HOLDER_MODULE,
};

/* A found object or one that leads to it. */
struct pie_holder_node {
    uintptr_t key;            /* the object's address; of a frame: its slot's, and 1 */
    struct _object *object;   /* of a frame: its code */
    struct _object *function; /* of a frame: the function it runs, or NULL */
    uint64_t blocks;          /* bits of the blocks that it leads to */
    int32_t child;            /* the next node towards the block; PIE_HOLDER_NONE: it is the object itself */
    int32_t slot;             /* of a frame: where; PIE_HOLDER_NONE: in its dictionary of locals */
    uint32_t references;      /* to it, as far as they have been seen */
    uint8_t level;       /* the pass that found it; PIE_HOLDER_LEVEL_DONE: all that refers to it is known */
    uint8_t root;        /* enum pie_holder_root */
    bool is_block;       /* the object itself is in a block */
    bool is_looked_into; /* an untracked one */
};

enum { PIE_HOLDER_LEVEL_DONE = 255 };

struct pie_holder {
    /* the blocks */
    uintptr_t blocks[PIE_HOLDER_BLOCKS_MAX];
    size_t count;
    int8_t block_slots[PIE_HOLDER_BLOCK_SLOTS]; /* open addressing; PIE_HOLDER_NONE: free */

    /* the graph, as far as it leads to them */
    struct pie_holder_node nodes[PIE_HOLDER_NODES_MAX];
    int32_t n_nodes;
    uint16_t slots[PIE_HOLDER_SLOTS]; /* node + 1, by address */
    bool is_full;                     /* something was left out */

    /* the pass */
    uint8_t level;
    int depth;              /* of untracked containers that are being looked into */
    struct _object *holder; /* whose references are being visited; NULL: those of the frame */
    uintptr_t frame_slot;   /* address of the frame's slot, to tell them apart */
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
    } modules[PIE_HOLDER_MODULES_MAX]; /* open addressing */
};

/* --- holder/graph.c --- */

void pie_holder_set_blocks(struct pie_holder *holder, const uintptr_t *blocks, size_t count);

/* Learns from sys.modules which dictionaries are modules'. */
void pie_holder_set_modules(struct pie_holder *holder);

/* The block that begins at this address, or PIE_HOLDER_NONE. */
int pie_holder_find_block(const struct pie_holder *holder, uintptr_t address);

/* The node of an object, or PIE_HOLDER_NONE. */
int32_t pie_holder_find_node(const struct pie_holder *holder, uintptr_t key);

/* Notes that `object` is in a block (is_block), or only points to one. level: of a new node. Returns its node or
 * PIE_HOLDER_NONE. */
int32_t pie_holder_add_owner(struct pie_holder *holder, struct _object *object, int block, bool is_block,
                             uint8_t level);

/* Notes that holder->holder, or the frame, refers to this node. */
void pie_holder_refer(struct pie_holder *holder, int32_t child);

/* Notes that the frame's evaluation stack may refer to it. */
void pie_holder_refer_from_stack(struct pie_holder *holder, int32_t child);

/* --- holder/memory.c --- */

/* Looks for words in the object's own memory that point to a block. Returns its node, or PIE_HOLDER_NONE. level: as
 * for pie_holder_add_owner(). */
int32_t pie_holder_look_at_memory(struct pie_holder *holder, struct _object *object, uint8_t level);

/* Visits the objects that an array refers to: NumPy's type does not. As tp_traverse. */
int pie_holder_visit_array(struct _object *array, int (*visit)(struct _object *, void *), void *arg);

/* --- holder/names.c --- */

struct pie_holder_text {
    char *text;
    size_t size, used;
};

void pie_holder_put(struct pie_holder_text *text, const char *words);
void pie_holder_put_string(struct pie_holder_text *text, struct _object *string);
void pie_holder_put_type(struct pie_holder_text *text, struct _typeobject *type);
/* A function, or another object with a __qualname__ in its dictionary. */
void pie_holder_put_function(struct pie_holder_text *text, struct _object *function);
void pie_holder_put_module(struct pie_holder_text *text, struct _object *module);

/* The value of a name in a dictionary, borrowed; NULL. */
struct _object *pie_holder_get(struct _object *dict, const char *name);

/* The first name that has this value in a dictionary, borrowed; NULL. */
struct _object *pie_holder_name_in(struct _object *dict, struct _object *value);

/* The dictionary of an object's attributes, borrowed; NULL. */
struct _object *pie_holder_namespace(struct _object *object);

/* The attribute of an object that has this value: a str, borrowed, or a name in C. False: there is none. */
bool pie_holder_attribute(struct _object *object, struct _object *value, struct _object **ret_name,
                          const char **ret_words);

/* The name of a frame's i-th local variable, borrowed; NULL. */
struct _object *pie_holder_local_name(struct _object *code, ptrdiff_t i);

/* functools.lru_cache's. */
bool pie_holder_is_lru_cache(struct _object *object);

/* --- holder/text.c --- */

/* Writes the path from the block up to this node. */
void pie_holder_describe(const struct pie_holder *holder, int32_t node, struct pie_holder_text *text);

/* Describes objects that only they themselves hold. */
void pie_holder_describe_cycle(const struct pie_holder *holder, struct pie_holder_text *text);
