/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/sink.h"
#include "profiler/reads/reads.h"

#include <stdbool.h>
#include <stddef.h>

/* What each line of Python has its calls read (reads.h). Context: drain (all functions). */

struct pie_naming;
struct pie_reads_places;

/* naming is borrowed. Returns 0 or -ENOMEM. */
int pie_reads_places_create(struct pie_naming *naming, struct pie_reads_places **ret_places);
void pie_reads_places_destroy(struct pie_reads_places *places);

/* A sample, of a line by its stored node. Samples of a place come in the order of time. Short of memory it is counted
 * as that. */
void pie_reads_places_add(struct pie_reads_places *places, struct pie_node_id line,
                          const struct pie_reads_record *record);

/* The next row of a place that has changed since the last clear; *at begins as 0. False: there is none. */
bool pie_reads_places_next(const struct pie_reads_places *places, size_t *at,
                           struct pie_reading_row *ret_row);
void pie_reads_places_clear(struct pie_reads_places *places);

/* Will a row tell of this node? */
bool pie_reads_places_hold(const struct pie_reads_places *places, struct pie_node_id node);
/* Forgets the nodes that naming has forgotten. */
void pie_reads_places_forget(struct pie_reads_places *places);
