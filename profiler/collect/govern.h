/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_governor;

/* Adds up what profiling has cost so far and gives each collector its share. Ten times a second. Context: drain. */
void pie_govern(struct pie_governor *governor);
