/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/confirm/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/profile.h"
#include "launcher/confirm/confirm.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "storage/read/reader.h"

static const char text_sql[] = "SELECT l.line, l.text FROM source s JOIN source_line l ON l.source = s.id"
                               " WHERE s.run = :run AND s.path = :file ORDER BY l.line";

enum { LINE_MAX_BYTES = 490 }; /* longer lines are cut in a profile */

/* Only plain text is sure to be in the profile as it was in the file. */
static bool is_comparable(const char *text) {
    size_t size = strlen(text);

    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            return false;
    return size < LINE_MAX_BYTES;
}

static bool is_same(char *now, const char *before) {
    now[strcspn(now, "\r\n\f")] = '\0';
    return !is_comparable(before) || strcmp(now, before) == 0;
}

/* The first line that is another one now, 0: none, or -errno. */
static int64_t changed_line(FILE *file, struct pie_cursor *rows, char **ret_message) {
    char *text = NULL;
    size_t room = 0;
    int64_t at = 0, changed = 0;
    int r = 0;

    while (changed == 0 && (r = pie_cursor_next(rows, ret_message)) > 0) {
        int64_t line = pie_cursor_int(rows, 0);
        while (at < line && getline(&text, &room, file) >= 0)
            at++;
        if (at < line || !is_same(text, pie_cursor_text(rows, 1)))
            changed = line;
    }
    free(text);
    return r < 0 ? r : changed;
}

static int check_text(struct pie_reader *reader, int64_t run, const char *path, FILE *file) {
    struct pie_cursor *rows;
    char *message = NULL;

    if (pie_cursor_open(reader, text_sql, &rows, &message) < 0)
        return pie_profile_complain(message);
    pie_cursor_bind_int(rows, ":run", run);
    pie_cursor_bind_text(rows, ":file", path);
    int64_t changed = changed_line(file, rows, &message);
    pie_cursor_close(rows);
    if (changed < 0)
        return pie_profile_complain(message);
    if (changed > 0)
        pie_message_error("%s has changed since it was profiled (line %lld): profile it again", path,
                          (long long)changed);
    return changed > 0 ? PIE_PROFILE_FAILED : 0;
}

/* A name that is no file's ("<string>") has nothing to compare with. */
static int check_file(struct pie_reader *reader, int64_t run, const char *path) {
    if (*path != '/')
        return 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        pie_message_error(
            "%s, in which the findings are: %s; put it back, or profile the program where it is now", path,
            strerror(errno));
        return PIE_PROFILE_FAILED;
    }
    int status = check_text(reader, run, path, file);
    fclose(file);
    return status;
}

bool pie_confirm_source_is_new(const struct pie_confirm_board *board, uint32_t line) {
    for (uint32_t i = 0; i < line; i++)
        if (strcmp(board->lines[i].file, board->lines[line].file) == 0)
            return false;
    return true;
}

int pie_confirm_source_check(struct pie_reader *reader, const struct pie_confirm_plan *plan) {
    int status = 0;

    for (uint32_t i = 0; i < plan->board->n_lines && status == 0; i++)
        if (pie_confirm_source_is_new(plan->board, i))
            status = check_file(reader, plan->run, plan->board->lines[i].file);
    return status;
}
