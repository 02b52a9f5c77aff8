/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* How many libraries were unloaded in this process so far, as the dynamic linker counts them; some 50 ns. Takes the
 * linker's lock. Context: drain. */
uint64_t pie_unloads(void);

/* If libraries were unloaded since anybody's last look, a new generation of code begins (pie_code_generation()).
 * Context: hook, drain. */
void pie_unloads_refresh(void);

/* Around a call that may unload libraries: samples meanwhile, and from then on, never take one for another.
 * Context: hook. */
void pie_unloading_begin(void);
void pie_unloading_end(void);
