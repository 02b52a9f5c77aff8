/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_config;
struct pie_governor;
struct pie_pace;
struct pie_sink;

/* Gives the sink how much CPU time at the beginning the budget does not limit. Returns 0 or the sink's error. Context:
 * drain. */
int pie_govern_put(struct pie_sink *sink, const struct pie_config *config);

/* Collectors have begun. They take their shares of a budget that is kept from the start. Context: drain. */
void pie_govern_begin(const struct pie_governor *governor);

/* Adds up what profiling has cost so far, gives each collector its share, and sets the pace of the collection thread.
 * ticks: that it has had. Ten times a second. Context: drain. */
void pie_govern(struct pie_governor *governor, struct pie_pace *pace, uint64_t ticks);
