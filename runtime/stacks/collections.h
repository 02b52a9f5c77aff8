/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Collections of garbage, read from the interpreter's memory (collections_sigsafe.c;
 * collections_none_sigsafe.c without the GIL). */

/* See pie_pystack_ops.collects. Context: signal. */
int pie_collections_generation(uintptr_t tstate);

/* Bytes from the collector's state to the lists of its generations, as the lists themselves say: releases of one
 * version differ. 0: they are nowhere that is known, and pie_collections_generation() returns -1 from then on. gc: that
 * state, of an interpreter that collects nothing at the moment. Python 3.11 to 3.13. Context: gil. */
size_t pie_collections_find_lists(uintptr_t gc);

/* The same for the interpreter of the calling thread, where releases differ. Context: gil. */
void pie_collections_verify(uintptr_t tstate);
