/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_sink;
struct pie_process_facts;

/* Gives the sink the environment of this process: Python, platform, kernel, processor. Returns 0 or the sink's error.
 * Context: drain. */
int pie_environment_put(struct pie_sink *sink, const struct pie_process_facts *facts);
