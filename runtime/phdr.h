/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The exported dl_iterate_phdr(): inside a handler (where libunwind may ask) it is answered from a snapshot, so that the
 * loader's lock is never taken there; elsewhere it is the original. */

/* Takes the first snapshot. Context: launcher, before Python starts. */
void pie_phdr_init(void);

/* Takes a new one if libraries have come or gone. Context: drain. */
void pie_phdr_refresh(void);
