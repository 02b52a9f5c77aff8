/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/rowlog.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/own_memory.h"
#include "storage/base/utf8.h"

/* A row is the statement's number, the number of parameters, and for each of them a tag: 'i' and 'd' with eight
 * bytes, 't' with a 32-bit length and the bytes, 'n' with nothing. */

enum { FIRST_CAPACITY = 64 << 10 };

void pie_rowlog_finish(struct pie_rowlog *log) {
    pie_free(log->bytes);
    *log = (struct pie_rowlog){0};
}

void pie_rowlog_clear(struct pie_rowlog *log) {
    log->size = 0;
}

static int reserve(struct pie_rowlog *log, size_t more) {
    size_t need = log->size + more, capacity = log->capacity ? log->capacity : FIRST_CAPACITY;
    if (need > PIE_ROWLOG_MAX_BYTES)
        return -ENOBUFS;
    while (capacity < need)
        capacity *= 2;
    if (capacity == log->capacity)
        return 0;
    unsigned char *bytes = pie_realloc(log->bytes, capacity);
    if (!bytes)
        return -ENOMEM;
    log->bytes = bytes;
    log->capacity = capacity;
    return 0;
}

static int put(struct pie_rowlog *log, char tag, const void *value, size_t size) {
    int r = reserve(log, size + 1);
    if (r < 0)
        return r;
    log->bytes[log->size++] = (unsigned char)tag;
    if (size > 0)
        memcpy(log->bytes + log->size, value, size);
    log->size += size;
    return 0;
}

static int put_text(struct pie_rowlog *log, const char *text) {
    size_t size = strlen(text);
    int r = reserve(log, 1 + sizeof(uint32_t) + 3 * size);
    if (r < 0)
        return r;
    log->bytes[log->size] = 't';
    uint32_t clean = (uint32_t)pie_utf8_clean((char *)log->bytes + log->size + 1 + sizeof clean, text, size);
    memcpy(log->bytes + log->size + 1, &clean, sizeof clean);
    log->size += 1 + sizeof clean + clean;
    return 0;
}

static int put_parameter(struct pie_rowlog *log, char type, va_list *args) {
    if (type == 'd') {
        double value = va_arg(*args, double);
        return put(log, 'd', &value, sizeof value);
    }
    if (type == 't') {
        const char *text = va_arg(*args, const char *);
        return text ? put_text(log, text) : put(log, 'n', NULL, 0);
    }
    if (type == 'n')
        return put(log, 'n', NULL, 0);
    int64_t value = va_arg(*args, int64_t);
    if (type == 'z' && value == 0)
        return put(log, 'n', NULL, 0);
    return put(log, 'i', &value, sizeof value);
}

int pie_rowlog_add(struct pie_rowlog *log, unsigned statement, const char *types, ...) {
    size_t start = log->size;
    unsigned char count = (unsigned char)strlen(types);
    int r = put(log, (char)statement, &count, 1);
    va_list args;
    va_start(args, types);
    for (const char *type = types; *type && r == 0; type++)
        r = put_parameter(log, *type, &args);
    va_end(args);
    if (r < 0)
        log->size = start;
    return r;
}

static size_t bind(sqlite3_stmt *statement, int index, const unsigned char *at, int *ret_code) {
    uint32_t length;
    int64_t integer;
    double real;
    switch (*at) {
    case 'i':
        memcpy(&integer, at + 1, sizeof integer);
        *ret_code = sqlite3_bind_int64(statement, index, integer);
        return 1 + sizeof integer;
    case 'd':
        memcpy(&real, at + 1, sizeof real);
        *ret_code = sqlite3_bind_double(statement, index, real);
        return 1 + sizeof real;
    case 't':
        memcpy(&length, at + 1, sizeof length);
        *ret_code = sqlite3_bind_text(statement, index, (const char *)at + 1 + sizeof length, (int)length,
                                      SQLITE_STATIC);
        return 1 + sizeof length + length;
    default:
        *ret_code = sqlite3_bind_null(statement, index);
        return 1;
    }
}

static int replay_row(sqlite3_stmt *statement, const unsigned char **at) {
    int count = (*at)[1], code = SQLITE_OK;
    *at += 2;
    for (int i = 0; i < count; i++) {
        int bound;
        *at += bind(statement, i + 1, *at, &bound);
        if (code == SQLITE_OK)
            code = bound;
    }
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW || code == SQLITE_OK ? 0 : -code;
}

int pie_rowlog_replay(const struct pie_rowlog *log, int (*prepare)(void *data, unsigned, sqlite3_stmt **),
                      void *data) {
    const unsigned char *at = log->bytes, *end = log->bytes + log->size;
    while (at < end) {
        sqlite3_stmt *statement;
        int r = prepare(data, *at, &statement);
        if (r == 0)
            r = replay_row(statement, &at);
        if (r < 0)
            return r;
    }
    return 0;
}
