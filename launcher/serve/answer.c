/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/serve/answer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "launcher/serve/stop.h"
#include "storage/page/page.h"
#include "storage/read/reader.h"

/* Each answer opens the file anew and closes it again: between two answers the program that writes it is alone with it.
 * The times and sizes of the file and of its log say whether anything is new, without opening it. */

enum { OK = 200, NOT_MODIFIED = 304, FORBIDDEN = 403, NOT_FOUND = 404, BAD_METHOD = 405, UNAVAILABLE = 503 };

static const char no_policy[] = "default-src 'none'; frame-ancestors 'none'";

static void add_header(struct pie_answer *answer, const char *name, const char *value) {
    if (answer->header_count < PIE_ANSWER_HEADERS_MAX)
        answer->headers[answer->header_count++] = (struct pie_answer_header){name, value};
}

/* What every answer says: nothing of it is kept, guessed at, told to others or read by them. */
static void begin(struct pie_answer *answer, unsigned status, const char *type, const char *policy) {
    *answer = (struct pie_answer){.status = status, .body = ""};
    add_header(answer, "Content-Type", type);
    add_header(answer, "Content-Security-Policy", policy);
    add_header(answer, "Cache-Control", "no-store");
    add_header(answer, "X-Content-Type-Options", "nosniff");
    add_header(answer, "Referrer-Policy", "no-referrer");
    add_header(answer, "Cross-Origin-Resource-Policy", "same-origin");
}

static void say(struct pie_answer *answer, unsigned status, const char *text) {
    begin(answer, status, "text/plain; charset=utf-8", no_policy);
    answer->body = text;
    answer->size = strlen(text);
}

static void refuse(struct pie_answer *answer, enum pie_gate_verdict verdict) {
    if (verdict == PIE_GATE_FOREIGN_HOST)
        say(answer, FORBIDDEN, "This server answers to the names of loopback only.\n");
    else if (verdict == PIE_GATE_FOREIGN_ORIGIN)
        say(answer, FORBIDDEN, "Another page may not ask this server.\n");
    else if (verdict == PIE_GATE_NO_TOKEN)
        say(answer, FORBIDDEN, "Open the address that pieprof serve has printed: it ends with a token.\n");
    else
        say(answer, BAD_METHOD, "Only GET and HEAD are understood.\n");
    if (verdict == PIE_GATE_BAD_METHOD)
        add_header(answer, "Allow", "GET, HEAD");
}

/* The cookie has the port in its name: cookies of one host go to all of its ports. */
static void give_page(const struct pie_site *site, struct pie_answer *answer) {
    begin(answer, OK, "text/html; charset=utf-8", site->policy.header);
    snprintf(answer->cookie, sizeof answer->cookie, "pieprof-%u=%s; Path=/; HttpOnly; SameSite=Strict",
             site->gate.port, site->gate.token);
    add_header(answer, "Set-Cookie", answer->cookie);
    answer->body = site->policy.page;
    answer->size = strlen(answer->body);
}

/* Which state of the file there is, and when it became so. */
static void describe(const char *path, char *ret_tag, char *ret_changed) {
    char log[PATH_MAX];
    struct stat file = {0}, more = {0};
    snprintf(log, sizeof log, "%s-wal", path);
    (void)stat(path, &file); /* if it is gone, reading it will say so */
    (void)stat(log, &more);
    snprintf(ret_tag, PIE_ANSWER_TEXT_SIZE, "\"%llx-%llx-%llx.%lx-%llx-%llx.%lx\"",
             (unsigned long long)file.st_ino, (unsigned long long)file.st_size,
             (unsigned long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, (unsigned long long)more.st_size,
             (unsigned long long)more.st_mtim.tv_sec, more.st_mtim.tv_nsec);
    time_t last = more.st_mtim.tv_sec > file.st_mtim.tv_sec ? more.st_mtim.tv_sec : file.st_mtim.tv_sec;
    struct tm date;
    if (!gmtime_r(&last, &date) ||
        strftime(ret_changed, PIE_ANSWER_TEXT_SIZE, "%a, %d %b %Y %H:%M:%S GMT", &date) == 0)
        *ret_changed = '\0';
}

static int write_data(const struct pie_site *site, FILE *out, char **ret_message) {
    char process[24] = "";
    struct pie_page_choice choice = {.run = site->run, .profile = site->profile};
    struct pie_reader *reader = NULL;
    int r = pie_reader_open(site->profile, &reader, ret_message);
    if (r < 0)
        return r;
    pie_stop_watch(reader);
    if (site->process > 0) {
        snprintf(process, sizeof process, "%lld", (long long)site->process);
        choice.process = process;
        r = pie_reader_cut(reader, site->run, site->process, ret_message);
    }
    if (r == 0)
        r = pie_page_write_data(out, reader, &choice, ret_message);
    pie_stop_watch(NULL);
    pie_reader_close(reader);
    return r;
}

static double cpu_ms(void) {
    struct timespec time;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
               ? (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6
               : 0;
}

/* The whole message is made before any of it is sent: it is right, or there is an error instead. */
static void give_data(const struct pie_site *site, struct pie_answer *answer) {
    char *text = NULL, *message = NULL;
    size_t size = 0;
    double begun_ms = cpu_ms();
    begin(answer, OK, "application/json; charset=utf-8", no_policy);
    describe(site->profile, answer->tag, answer->changed);
    FILE *out = open_memstream(&text, &size);
    int r = out ? write_data(site, out, &message) : -1;
    bool is_whole = out && fclose(out) == 0 && r == 0;
    if (!is_whole) {
        say(answer, UNAVAILABLE, "");
        free(text);
        text = message ? message : strdup("out of memory");
        size = text ? strlen(text) : 0;
    } else {
        free(message);
        snprintf(answer->cost, sizeof answer->cost, "cpu;dur=%.1f", cpu_ms() - begun_ms);
        add_header(answer, "Server-Timing", answer->cost); /* the page asks the less, the more it costs */
        add_header(answer, "ETag", answer->tag);
        add_header(answer, "Last-Modified", answer->changed);
    }
    answer->made = text;
    answer->body = text ? text : "";
    answer->size = size;
}

/* The same state as the browser has? Then that is the answer. */
static bool is_known(const struct pie_site *site, const struct pie_request *request,
                     struct pie_answer *answer) {
    begin(answer, NOT_MODIFIED, "application/json; charset=utf-8", no_policy);
    describe(site->profile, answer->tag, answer->changed);
    add_header(answer, "ETag", answer->tag);
    add_header(answer, "Last-Modified", answer->changed);
    return request->if_not && strcmp(request->if_not, answer->tag) == 0;
}

void pie_answer_make(const struct pie_site *site, const struct pie_request *request,
                     struct pie_answer *ret_answer) {
    enum pie_gate_verdict verdict = pie_gate_judge(&site->gate, request);
    if (verdict != PIE_GATE_OPEN)
        refuse(ret_answer, verdict);
    else if (strcmp(request->path, "/") == 0)
        give_page(site, ret_answer);
    else if (strcmp(request->path, "/data") != 0)
        say(ret_answer, NOT_FOUND, "There is the page at / and its data at /data.\n");
    else if (!is_known(site, request, ret_answer))
        give_data(site, ret_answer);
}

void pie_answer_finish(struct pie_answer *answer) {
    free(answer->made);
    answer->made = NULL;
}
