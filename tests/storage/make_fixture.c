/* SPDX-License-Identifier: Apache-2.0 */
/* usage: make_fixture DATABASE FOLDER [COUNT [WASTES [MEMORIES [TRACED]]]]
 * COUNT runs of the known program of fixture.c, then WASTES of that of fixture_waste.c, MEMORIES of that of
 * fixture_memory.c and TRACED of that of fixture_traced.c, for the tests of the whole program. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/storage/fixture.h"

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: make_fixture DATABASE FOLDER [COUNT [WASTES [MEMORIES [TRACED]]]]\n", stderr);
        return 2;
    }
    pie_fixture_write(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : 1);
    for (int i = argc > 4 ? atoi(argv[4]) : 0; i > 0; i--)
        pie_fixture_write_waste(argv[1], argv[2]);
    for (int i = argc > 5 ? atoi(argv[5]) : 0; i > 0; i--)
        pie_fixture_write_memory(argv[1], argv[2]);
    for (int i = argc > 6 ? atoi(argv[6]) : 0; i > 0; i--)
        pie_fixture_write_traced(argv[1], argv[2]);
    return 0;
}
