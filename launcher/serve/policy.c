/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/serve/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/page/page.h"

static const char before_policy[] = "http-equiv=\"Content-Security-Policy\" content=\"";
static const char asks_server[] = "; connect-src 'self'";
/* Browsers ignore this one outside of the header. */
static const char no_frame[] = "; frame-ancestors 'none'";
static const char no_data[] = "{\"served\":true}";

int pie_policy_init(struct pie_policy *policy, const struct pie_page_template *page) {
    const char *head = page->head,
               *begin = memmem(head, page->head_size, before_policy, strlen(before_policy));
    begin = begin ? begin + strlen(before_policy) : NULL;
    const char *end = begin ? memchr(begin, '"', page->head_size - (size_t)(begin - head)) : NULL;
    if (!end)
        return -EINVAL;
    int policy_size = (int)(end - begin), head_size = (int)(end - head),
        rest_size = (int)page->head_size - head_size;
    *policy = (struct pie_policy){0};
    if (asprintf(&policy->header, "%.*s%s%s", policy_size, begin, asks_server, no_frame) < 0)
        policy->header = NULL;
    if (asprintf(&policy->page, "%.*s%s%.*s%s%.*s", head_size, head, asks_server, rest_size, end, no_data,
                 (int)page->tail_size, page->tail) < 0)
        policy->page = NULL;
    if (policy->page && policy->header)
        return 0;
    pie_policy_finish(policy);
    return -ENOMEM;
}

void pie_policy_finish(struct pie_policy *policy) {
    free(policy->page);
    free(policy->header);
    *policy = (struct pie_policy){0};
}
