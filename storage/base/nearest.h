/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* How far two phrases are from each other, 0 for the same: the words they do not share, and for each of those the
 * letters to change. Context: cli. */
double pie_nearest_distance(const char *a, const char *b);

/* Chooses up to `max` of `count` phrases that are nearest to `text`, nearest first; such that have nothing in common
 * with it are left out. Writes their indices, returns their number. */
size_t pie_nearest_choose(const char *text, const char *const *phrases, size_t count, size_t *ret_indices,
                          size_t max);
