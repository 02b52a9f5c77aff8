/* SPDX-License-Identifier: Apache-2.0 */
/* usage: make_page DATABASE [HEAD [TAIL]]
 * Prints the page of the last run with a template of its own: the data between two texts, which are empty where they
 * are not given. So tests of a page's data need no npm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/page/page.h"
#include "storage/read/reader.h"

static int complain(char *message) {
    fprintf(stderr, "make_page: %s\n", message ? message : "out of memory");
    free(message);
    return 1;
}

int main(int argc, char **argv) {
    struct pie_page_choice choice = {.profile = argv[1]};
    const struct pie_page_template page = {
        .head = argc > 2 ? argv[2] : "",
        .tail = argc > 3 ? argv[3] : "",
        .head_size = argc > 2 ? strlen(argv[2]) : 0,
        .tail_size = argc > 3 ? strlen(argv[3]) : 0,
    };
    struct pie_reader *reader = NULL;
    char *message = NULL;
    if (argc < 2)
        return complain(strdup("which database?"));
    int r = pie_reader_open(argv[1], &reader, &message);
    if (r == 0)
        r = pie_reader_get_run(reader, 0, &choice.run, &message);
    if (r == 0)
        r = pie_page_write(stdout, reader, &choice, &page, &message);
    pie_reader_close(reader);
    return r < 0 ? complain(message) : 0;
}
