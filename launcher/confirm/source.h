/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_reader;
struct pie_confirm_plan;

/* Are the lines that are to be counted still those that were profiled? Lines of text that the profile has are compared
 * with the files. Returns 0, or an exit status after an error message. Context: cli. */
int pie_confirm_source_check(struct pie_reader *reader, const struct pie_confirm_plan *plan);
