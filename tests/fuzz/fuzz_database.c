/* SPDX-License-Identifier: Apache-2.0 */

/* Profiles from anywhere: read, asked, and looked at by a writer that would append. The file stays as it is. */

#include "storage/ask/query.h"
#include "storage/read/reader.h"
#include "storage/write/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct pie_reader *reader, const char *question) {
    struct pie_query query;
    char *message = NULL;

    if (pie_query_open(reader, question, 0, &query, &message) == 0) {
        while (pie_cursor_next(query.cursor, &message) > 0)
            continue;
        pie_query_close(&query);
    }
    free(message);
}

static void write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[] = "/tmp/fuzz-XXXXXX/x.db";
    struct pie_reader *reader = NULL;
    char *message = NULL;

    if (strstr(path, "XXXXXX")) {
        path[strlen(path) - 5] = '\0';
        if (!mkdtemp(path))
            abort();
        path[strlen(path)] = '/';
    }
    write_file(path, data, size);
    pie_writer_check(path, &message);
    free(message);
    message = NULL;
    if (pie_reader_open(path, &reader, &message) == 0) {
        pie_reader_end_in(reader, 2);
        ask(reader, "hot lines");
        ask(reader, "redundancy");
        ask(reader, "leaks");
        pie_reader_close(reader);
    }
    free(message);
    return 0;
}
