/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

enum { PIE_TOPIC_QUESTIONS = 3 };

/* Three phrases that answer what is next to the subject of the words, or NULL: no subject is known. Each phrase is one
 * that "query" answers. Context: cli. */
const char *const *pie_topic_find(const char *words);
