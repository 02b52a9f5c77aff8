/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "storage/read/reader.h"

int pie_profile_complain(char *message) {
    char *clean = message ? pie_text_printable(message) : NULL;
    pie_message_error("%s", clean ? clean : "out of memory");
    free(clean);
    free(message);
    return PIE_PROFILE_FAILED;
}

static struct pie_reader *opened(int r, struct pie_reader *reader, char *message) {
    if (r < 0) {
        (void)pie_profile_complain(message);
        return NULL;
    }
    if (pie_reader_note(reader))
        pie_message_warning("%s", pie_reader_note(reader));
    return reader;
}

struct pie_reader *pie_profile_open(const char *path) {
    struct pie_reader *reader = NULL;
    char *message = NULL;
    int r = pie_reader_open(path, &reader, &message);
    return opened(r, reader, message);
}

struct pie_reader *pie_profile_open_written(const char *path) {
    struct pie_reader *reader = NULL;
    char *message = NULL;
    int r = pie_reader_open_written(path, &reader, &message);
    return opened(r, reader, message);
}

int pie_profile_parse_run(const char *text, int64_t *ret_run) {
    char *end;
    errno = 0;
    long long run = strtoll(text, &end, 10);
    if (errno != 0 || *end != 0 || end == text || run < 1) {
        pie_message_error("%s is not the number of a run; pieprof runs lists them", text);
        return -EINVAL;
    }
    *ret_run = run;
    return 0;
}

int pie_profile_parse_process(const char *text, int64_t *ret_process) {
    char *end;
    errno = 0;
    long long process = strtoll(text, &end, 10);
    if (errno != 0 || *end != 0 || end == text || process < 1) {
        pie_message_error("%s is not the number or pid of a process; the question \"processes\" lists them",
                          text);
        return -EINVAL;
    }
    *ret_process = process;
    return 0;
}

int pie_profile_close_output(FILE *out, const char *name, int status) {
    errno = 0;
    int failed = fflush(out) != 0 || ferror(out);
    int error = errno;
    if (!failed)
        return status;
    if (error != EPIPE)
        pie_message_error("cannot write %s: %s", name, strerror(error ? error : EIO));
    return PIE_PROFILE_FAILED;
}
