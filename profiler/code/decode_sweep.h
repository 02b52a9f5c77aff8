/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/decode_function.h"

/* Fills the maps (zeroed) of a function whose begin, size and words are set; code is a copy of its bytes. Code behind
 * bytes that do not decode is swept where something jumps to it. Returns 0 or -ENOMEM. Context: drain. */
int pie_decode_sweep(struct pie_decode_function *function, const uint8_t *code);

/* The same for code of which no more is known than that some of its instructions were executed: a bit in `executed` for
 * each byte at which one of them begins. Only what these lead to gets marks. */
int pie_decode_follow(struct pie_decode_function *function, const uint8_t *code, const uint64_t *executed);

/* Map accessors for those who fill them; offset: from the beginning of the function. */
bool pie_decode_map_get(const struct pie_decode_function *function, enum pie_decode_mark mark,
                        uint32_t offset);
void pie_decode_map_set(struct pie_decode_function *function, enum pie_decode_mark mark, uint32_t offset);
