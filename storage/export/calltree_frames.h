/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "storage/export/calltree.h"
#include "storage/base/lookup.h"

/* The frames of a call tree while it is read: each once, and each text in them once. Context: cli. */

struct pie_calltree_chunk;

struct pie_calltree_texts {
    struct pie_calltree_chunk *newest; /* where the texts lie until the tree is destroyed */
    size_t used;                       /* bytes of that chunk */
    const char **texts;                /* by number, from 1 on */
    uint32_t count;
    struct pie_lookup by_text;
};

/* The frame with these fields, made if there is none yet: files, modules, functions and lines of different processes
 * that are the same are one frame, whatever their library. One of a line has its `whole` already. Texts are copied.
 * Returns 0, -ENOMEM or -EOVERFLOW. */
int pie_calltree_get_frame(struct pie_calltree *tree, const struct pie_calltree_frame *frame,
                           uint32_t *ret_frame);
/* One more frame, whose texts stay where they are. Returns as pie_calltree_get_frame(). */
int pie_calltree_add_frame(struct pie_calltree *tree, const struct pie_calltree_frame *frame);
/* No more of the file's frames come: what finds them goes, and they stay. */
void pie_calltree_end_frames(struct pie_calltree *tree);
void pie_calltree_finish_frames(struct pie_calltree *tree);

/* What a row has as its library: of native code of no distribution the name of its module's file. NULL: none. */
const char *pie_calltree_library(const struct pie_calltree_frame *frame);
