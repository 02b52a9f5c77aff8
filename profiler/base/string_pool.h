/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Strings that live as long as their pool; equal strings are kept once. Context: drain, cli. */
struct pie_string_pool;

/* Returns 0 or -ENOMEM. */
int pie_string_pool_create(struct pie_string_pool **ret_pool);
void pie_string_pool_destroy(struct pie_string_pool *pool);

/* The pool's copy of `text` (NULL for NULL); NULL also when memory runs out. */
const char *pie_string_pool_put(struct pie_string_pool *pool, const char *text);

/* The size of the pool's contents in bytes. */
size_t pie_string_pool_size_bytes(const struct pie_string_pool *pool);
