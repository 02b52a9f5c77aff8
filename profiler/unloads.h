/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* How many libraries were unloaded in this process so far, as the dynamic linker counts them; some 50 ns. Takes the
 * linker's lock. Context: drain. */
uint64_t pie_unloads(void);
