/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pie_prepared;

/* Most inputs of a merge are small and have one schema. Their bytes take turns in one file, which stays attached as
 * "input". To SQLite it looks as if another process had written the file anew: it drops its pages, but reads no schema
 * and prepares no statement again. Context: cli. */
struct pie_scratch {
    struct pie_prepared *prepared; /* of the result's connection */
    const char *beside;            /* the result: the scratch file lies there, without a name */
    int fd;                        /* -1: nothing is attached */
    uint32_t turn;
    unsigned char *bytes; /* of an input */
    unsigned char *first; /* the head of the input that was there when it was attached */
    char *schema;         /* the rows of its schema */
    size_t schema_size;
    bool is_planned; /* rows of such an input have been copied (pie_merge_rows_copy()) */
};

/* From now on "input" is this file, which nobody writes to. Returns false if the file is too large, of another version
 * or schema, damaged, or cannot be read: then it has to be attached by itself, after pie_scratch_leave(). */
bool pie_scratch_take(struct pie_scratch *scratch, const char *path);
/* Has "input" no damage that `PRAGMA quick_check` finds? */
bool pie_scratch_is_sound(struct pie_scratch *scratch);
/* Detaches the file, if it is attached; the next pie_scratch_take() attaches it again. No statement may be running. */
void pie_scratch_leave(struct pie_scratch *scratch);
void pie_scratch_finish(struct pie_scratch *scratch);
