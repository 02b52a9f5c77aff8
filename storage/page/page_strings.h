/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "storage/base/idmap.h"

/* Texts of a page, each once; tables refer to them by index. Context: cli. */
struct pie_page_strings {
    json_t *list;
    struct pie_idmap numbers; /* index + 1 */
    size_t bytes;             /* of the list as it is written, without brackets */
};

/* Returns 0 or -ENOMEM. */
int pie_page_strings_init(struct pie_page_strings *strings);
void pie_page_strings_finish(struct pie_page_strings *strings);

/* The index of a text, which is added if it is new; null for NULL. NULL without memory. */
json_t *pie_page_string(struct pie_page_strings *strings, const char *text);

/* Back to as many as there were: what a part added that turned out too large. Returns 0 or -ENOMEM. */
int pie_page_strings_forget(struct pie_page_strings *strings, size_t count);
