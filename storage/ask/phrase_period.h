/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_period;
struct pie_words;

/* Takes the words of a period of time: "in the last 5 minutes", "between 10:00 and 10:05", "since 10:00", "until 90 s",
 * "in slice 7". A moment is a time of day or a date of this machine's zone ("10:00", "10:00:30", "2026-11-23T10:00",
 * with a Z of UTC), or a time since the run began ("90 s", "5min"). Returns 1, 0 where other words stand, or -errno and
 * one line for people (heap). Context: cli. */
int pie_phrase_take_period(struct pie_words *words, struct pie_period *period, char **ret_message);
