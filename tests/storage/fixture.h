/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Ends the test program where a call of the sink's has failed. */
void pie_fixture_check(int r);

/* The number that a query of one row and one column gives. Ends the test program where there is none. */
int64_t pie_fixture_ask(const char *database, const char *sql);

/* Appends `count` runs of a made-up program whose every figure is known (see fixture.c) to a database, through the
 * sink. folder gets the program's source and a library beside it. Ends the test program where that fails. */
void pie_fixture_write(const char *database, const char *folder, int count);

/* Appends a run of another program, with redundant loads and stores whose truth is known (see fixture_waste.c). */
void pie_fixture_write_waste(const char *database, const char *folder);

/* Appends a run of a third one, of two processes, that allocates, leaks and copies (see fixture_memory.c). */
void pie_fixture_write_memory(const char *database, const char *folder);

/* Appends a run of a fourth one, of two processes, whose loops were traced (see fixture_traced.c). */
void pie_fixture_write_traced(const char *database, const char *folder);
