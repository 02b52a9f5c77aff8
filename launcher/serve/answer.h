/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "launcher/serve/gate.h"
#include "launcher/serve/policy.h"

/* What a request gets: the page at "/", its data at "/data". Context: cli. */

struct pie_site {
    const char *profile;  /* its path */
    int64_t run, process; /* 0: all processes */
    struct pie_gate gate;
    struct pie_policy policy;
};

enum { PIE_ANSWER_HEADERS_MAX = 10, PIE_ANSWER_TEXT_SIZE = 160 };

struct pie_answer_header {
    const char *name;
    const char *value; /* lives as long as the answer */
};

struct pie_answer {
    unsigned status;
    const char *body; /* the site's, or made: heap */
    size_t size;
    char *made;
    struct pie_answer_header headers[PIE_ANSWER_HEADERS_MAX];
    int header_count;
    char tag[PIE_ANSWER_TEXT_SIZE], changed[PIE_ANSWER_TEXT_SIZE], cookie[PIE_ANSWER_TEXT_SIZE],
        cost[PIE_ANSWER_TEXT_SIZE];
};

/* Always gives an answer; what is heap of it goes with pie_answer_finish(). */
void pie_answer_make(const struct pie_site *site, const struct pie_request *request,
                     struct pie_answer *ret_answer);
void pie_answer_finish(struct pie_answer *answer);
