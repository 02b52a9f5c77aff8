/* SPDX-License-Identifier: Apache-2.0 */
/* usage: make_fixture DATABASE FOLDER [COUNT]
 * The known profile of fixture.c for the tests of the whole program. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/storage/fixture.h"

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: make_fixture DATABASE FOLDER [COUNT]\n", stderr);
        return 2;
    }
    pie_fixture_write(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : 1);
    return 0;
}
