/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/collector.h"

extern const struct pie_collector pie_windows_collector;
