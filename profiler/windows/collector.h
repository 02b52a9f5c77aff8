/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/collector.h"

struct pie_window_ops;

/* From now on windows can be asked for, also in forked children. ops live as long as the process. Context: gil. */
void pie_windows_set(const struct pie_window_ops *ops);

extern const struct pie_collector pie_windows_collector;
