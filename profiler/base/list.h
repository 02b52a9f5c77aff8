/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The list of elements of a size, with room for one more: it doubles, and *room says how many it holds. It may have
 * moved. NULL: short of memory, and the list is as it was. Context: drain, cli. */
void *pie_list_grown(void *list, size_t count, size_t *room, size_t size);
