/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/merge/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/copy/prepared.h"
#include "storage/file/db.h"
#include "storage/file/schema.h"
#include "storage/file/temporary.h"

/* https://www.sqlite.org/fileformat2.html#the_database_header
 *
 * The head of an input and the rows of its schema are those of the first one, byte for byte. So what SQLite read of the
 * first holds for it. Two fields of the head are changed: the number that shows SQLite that a file was written, and
 * the mark of a log, since a file that is still has none. */

enum {
    HEAD_BYTES = 100,
    PAGE_BYTES_AT = 16,
    LOG_AT = 18, /* two bytes; 1: none, 2: the changes are in a log */
    CHANGES_AT = 24,
    PAGES_AT = 28, /* and where the free ones are, up to SCHEMA_AT */
    SCHEMA_AT = 40,
    VERSION_AT = 60,
    APPLICATION_AT = 68,
    CHANGES_OF_PAGES_AT = 92, /* the number of changes for which the number of pages holds */
    BYTES_MAX = 4 << 20,      /* of larger files the rows are the cost */
};

static uint32_t number_at(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_number(unsigned char *bytes, uint32_t number) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

static size_t page_bytes(const unsigned char *head) {
    size_t size = (size_t)head[PAGE_BYTES_AT] << 8 | head[PAGE_BYTES_AT + 1];
    return size == 1 ? 65536 : size;
}

static bool is_ours(const unsigned char *head, size_t size) {
    return size >= HEAD_BYTES && memcmp(head, "SQLite format 3", 16) == 0 &&
           number_at(head + APPLICATION_AT) == PIE_SCHEMA_APPLICATION_ID &&
           number_at(head + VERSION_AT) == PIE_SCHEMA_VERSION && page_bytes(head) >= 512 &&
           size % page_bytes(head) == 0;
}

static bool is_of_one_format(const unsigned char *a, const unsigned char *b) {
    return memcmp(a, b, CHANGES_AT) == 0 &&
           memcmp(a + SCHEMA_AT, b + SCHEMA_AT, CHANGES_OF_PAGES_AT - SCHEMA_AT) == 0;
}

static bool is_there(const char *path, const char *suffix) {
    char *name;
    if (asprintf(&name, "%s%s", path, suffix) < 0)
        return true;
    bool found = access(name, F_OK) == 0;
    free(name);
    return found;
}

/* Returns the size, or 0 for a file that does not qualify. */
static size_t read_file(struct pie_scratch *scratch, const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t size = 0;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= BYTES_MAX)
        size = pread(fd, scratch->bytes, BYTES_MAX, 0);
    if (fd >= 0)
        close(fd);
    return size > 0 && size == status.st_size && is_ours(scratch->bytes, (size_t)size) ? (size_t)size : 0;
}

static bool write_scratch(struct pie_scratch *scratch, size_t size) {
    unsigned char *head = scratch->bytes;
    uint32_t since = number_at(head + CHANGES_OF_PAGES_AT) - number_at(head + CHANGES_AT);
    put_number(head + CHANGES_AT, ++scratch->turn);
    put_number(head + CHANGES_OF_PAGES_AT, scratch->turn + since);
    memset(head + LOG_AT, 1, 2);
    return pwrite(scratch->fd, scratch->bytes, size, 0) == (ssize_t)size &&
           ftruncate(scratch->fd, (off_t)size) == 0;
}

/* The rows of the schema, one behind the other. NULL where they cannot be read. Heap. */
static char *read_schema(struct pie_scratch *scratch, size_t *ret_size) {
    static const char sql[] = "SELECT type, name, tbl_name, rootpage, sql FROM input.sqlite_schema";
    sqlite3_stmt *rows;
    char *text = NULL;
    int code = pie_prepared_get(scratch->prepared, sql, &rows);
    FILE *out = code == SQLITE_OK ? open_memstream(&text, ret_size) : NULL;
    if (!out)
        return NULL;
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            const void *value = sqlite3_column_blob(rows, i);
            int size = sqlite3_column_bytes(rows, i), head[] = {sqlite3_column_type(rows, i), size};
            fwrite(head, sizeof head, 1, out);
            fwrite(value ? value : "", 1, (size_t)size, out);
        }
    }
    sqlite3_reset(rows);
    if (fclose(out) == 0 && code == SQLITE_DONE)
        return text;
    free(text);
    return NULL;
}

/* The result has our own schema and nothing else: is the input's the same? */
static bool has_our_schema(struct pie_scratch *scratch) {
    static const char sql[] =
        "SELECT NOT EXISTS (SELECT type, name, tbl_name, sql FROM main.sqlite_schema EXCEPT"
        "  SELECT type, name, tbl_name, sql FROM input.sqlite_schema)"
        " AND (SELECT count(*) FROM main.sqlite_schema) = (SELECT count(*) FROM input.sqlite_schema)";
    int64_t is_same = 0;
    return pie_db_get_int(scratch->prepared->db, sql, &is_same) == 0 && is_same;
}

static int attach(struct pie_scratch *scratch, const char *path) {
    char *uri = pie_db_uri(path, "mode=ro&nolock=1"); /* nobody else knows of it */
    char *sql = uri ? sqlite3_mprintf("ATTACH %Q AS input", uri) : NULL;
    int code = sql ? sqlite3_exec(scratch->prepared->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    free(uri);
    return code;
}

/* With the first input of a schema, which is in the buffer. */
static bool begin(struct pie_scratch *scratch, size_t size) {
    char *path = NULL;
    memcpy(scratch->first, scratch->bytes, HEAD_BYTES);
    scratch->fd = pie_temporary_open(scratch->beside, &path);
    bool is_attached = scratch->fd >= 0 && write_scratch(scratch, size) && attach(scratch, path) == SQLITE_OK;
    if (path)
        unlink(path);
    free(path);
    if (is_attached && has_our_schema(scratch))
        scratch->schema = read_schema(scratch, &scratch->schema_size);
    if (!scratch->schema)
        pie_scratch_leave(scratch);
    return scratch->schema;
}

static bool is_of_one_schema(struct pie_scratch *scratch) {
    size_t size = 0;
    char *schema = read_schema(scratch, &size);
    bool is_same = schema && size == scratch->schema_size && memcmp(schema, scratch->schema, size) == 0;
    free(schema);
    return is_same;
}

static bool allocate(struct pie_scratch *scratch) {
    scratch->bytes = scratch->bytes ? scratch->bytes : malloc(BYTES_MAX);
    scratch->first = scratch->first ? scratch->first : malloc(HEAD_BYTES);
    return scratch->bytes && scratch->first;
}

bool pie_scratch_take(struct pie_scratch *scratch, const char *path) {
    size_t size = !is_there(path, "-journal") && allocate(scratch) ? read_file(scratch, path) : 0;
    if (size == 0)
        return false;
    if (scratch->fd < 0)
        return begin(scratch, size);
    return is_of_one_format(scratch->bytes, scratch->first) && write_scratch(scratch, size) &&
           is_of_one_schema(scratch);
}

bool pie_scratch_is_sound(struct pie_scratch *scratch) {
    sqlite3_stmt *check;
    if (pie_prepared_get(scratch->prepared, "PRAGMA input.quick_check(1)", &check) != SQLITE_OK)
        return false;
    const char *verdict =
        sqlite3_step(check) == SQLITE_ROW ? (const char *)sqlite3_column_text(check, 0) : NULL;
    bool is_sound = verdict && strcmp(verdict, "ok") == 0;
    return sqlite3_reset(check) == SQLITE_OK && is_sound;
}

void pie_scratch_leave(struct pie_scratch *scratch) {
    if (scratch->fd < 0)
        return;
    sqlite3_exec(scratch->prepared->db, "DETACH input", NULL, NULL, NULL);
    close(scratch->fd);
    free(scratch->schema);
    scratch->schema = NULL;
    scratch->is_planned = false;
    scratch->fd = -1;
}

void pie_scratch_finish(struct pie_scratch *scratch) {
    pie_scratch_leave(scratch);
    free(scratch->bytes);
    free(scratch->first);
}
