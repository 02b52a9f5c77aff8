/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Is a descriptor that was just opened in the upper half of those that the process may have? With few of them
 * (ulimit -n 16) the database needs the rest, so its opener closes it again. Context: any. */
bool pie_descriptor_is_scarce(int fd);

/* Does the collection thread have a descriptor table of its own? Then what it keeps open is nobody else's concern. The
 * first is its answer when it starts. Context: drain. */
void pie_descriptors_set_own(bool own);
bool pie_descriptors_are_own(void);
