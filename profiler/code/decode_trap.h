/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Empties the cache of pie_decode_trap(). Context: drain. */
void pie_decode_traps_flush(void);
