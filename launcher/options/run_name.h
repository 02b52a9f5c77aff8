/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* What the processes of one run have in common: the name of the job where a launcher of parallel programs started this
 * one among several and has told it (`is_job` asks for that), else one that nobody else has. Heap, or NULL without
 * memory. Context: launcher. */
char *pie_run_name_make(bool is_job);
