/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_page_template;

/* A page that asks its server for its data: the one that was built into the program, with a policy that lets it.
 * Context: cli. */
struct pie_policy {
    char *page;   /* the page, whose data say that they are to be asked for */
    char *header; /* its Content-Security-Policy, which says also that no other page may hold it in a frame */
};

/* Both texts are on the heap, and go with pie_policy_finish(). Returns 0, -ENOMEM, or -EINVAL: the page has no policy
 * of its own to begin with. */
int pie_policy_init(struct pie_policy *policy, const struct pie_page_template *page);
void pie_policy_finish(struct pie_policy *policy);
