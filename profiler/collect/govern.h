/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_governor;

/* Asks what profiling has cost so far and tells each collector what it may cost. Ten times a second. Context: drain. */
void pie_govern(struct pie_governor *governor);
