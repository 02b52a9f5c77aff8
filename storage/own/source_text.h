/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Chooses which source lines go into the file, and reads them: of the user's own code the functions that have
 * samples, of library code the lines that have. Text is read soon after a line is first seen, because the file may be
 * edited or gone later; a file that has changed since it was first read gives no more lines. Context: drain. */

struct pie_source_text;

/* Takes a line; text has no line end and may be invalid UTF-8. Returns 0 or -errno, which stops the reading. */
typedef int (*pie_source_emit_fn)(void *data, const char *path, int32_t line, const char *text);

/* Text that was compiled under a name which is no file's; NULL: none. */
typedef const char *(*pie_source_made_fn)(const char *name, size_t *ret_size);

enum {
    PIE_SOURCE_FILE_MAX_BYTES = 4 << 20,   /* longer files are left out */
    PIE_SOURCE_TOTAL_MAX_BYTES = 16 << 20, /* of text kept for one process */
    PIE_SOURCE_LINE_MAX_BYTES = 500,       /* longer lines are cut */
    PIE_SOURCE_FUNCTION_MAX_LINES =
        400,                      /* of a longer function only the surroundings of its lines are kept */
    PIE_SOURCE_CONTEXT_LINES = 3, /* kept around each line */
};

int pie_source_text_create(struct pie_source_text **ret_source);
void pie_source_text_destroy(struct pie_source_text *source);

/* Asks for the text around one line. file: a small number that stands for path. first_line: of the function, 0 for
 * module level or unknown. Returns 0 or -ENOMEM. */
int pie_source_text_want(struct pie_source_text *source, uint32_t file, const char *path, bool is_own,
                         int32_t first_line, int32_t line);

/* Forgets files that are not kept and of which nothing is wanted. */
void pie_source_text_forget(struct pie_source_text *source, bool (*keeps)(void *data, uint32_t file),
                            void *data);

/* made: may be NULL; asked for what cannot be read. Reads and emits what was wanted and not emitted yet. Returns 0,
 * -ENOMEM or what emit returned; files that cannot be read are left out. */
int pie_source_text_flush(struct pie_source_text *source, pie_source_made_fn made, pie_source_emit_fn emit,
                          void *data);
