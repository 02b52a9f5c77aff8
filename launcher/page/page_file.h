/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_reader;

/* `pieprof report --html`. Context: cli. */
struct pie_page_wish {
    const char *output;   /* the file to write, "-": standard output; NULL: no page is asked for */
    bool is_open_wanted;  /* by a browser */
    const char *profile;  /* the profile's path */
    int64_t run, process; /* as the reader was narrowed to; 0: all */
};

/* Says so in one line, in the command's name, if this program has no page. Returns 0 or PIE_PROFILE_FAILED. */
int pie_page_file_check(const char *command);

/* Writes the page and opens it. Returns the exit status, after error messages. */
int pie_page_file_write(const struct pie_page_wish *wish, struct pie_reader *reader);
