/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/page/page_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/profile.h"
#include "launcher/command/target.h"
#include "launcher/page/browser.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "storage/page/page.h"

int pie_page_file_check(const char *command) {
    if (pie_page_built_in.head_size > 0)
        return 0;
    pie_message_error("%s: this pieprof was built without the page; build it where npm is, or from a release "
                      "archive (docs/building.md)",
                      command);
    return PIE_PROFILE_FAILED;
}

static void open_in_browser(const char *output) {
    char *path = realpath(output, NULL), *clean = pie_text_printable(path ? path : output);
    if (pie_browser_open(path ? path : output) < 0)
        pie_message_warning("no browser could be started ($BROWSER, xdg-open); open %s yourself",
                            clean ? clean : "it");
    free(path);
    free(clean);
}

/* "page.html: 312 kB" */
static void tell(const char *output, long size) {
    char *clean = pie_text_printable(output), bytes[PIE_TEXT_BYTES_SIZE];
    pie_text_bytes((double)size, bytes);
    printf("%s: %s\n", clean ? clean : "the page", bytes);
    fflush(stdout); /* before a browser prints */
    free(clean);
}

int pie_page_file_write(const struct pie_page_wish *wish, struct pie_reader *reader) {
    const char *output = strcmp(wish->output, "-") == 0 ? NULL : wish->output;
    char process[24] = "", *message = NULL;
    struct pie_page_choice choice = {.run = wish->run, .profile = wish->profile};
    struct pie_target target;
    if (wish->process > 0) {
        snprintf(process, sizeof process, "%lld", (long long)wish->process);
        choice.process = process;
    }
    if (pie_target_open(output, wish->profile, &target) < 0)
        return PIE_PROFILE_FAILED;
    int r = pie_page_write(target.out, reader, &choice, &pie_page_built_in, &message);
    long size = output ? ftell(target.out) : -1;
    int status = pie_target_close(&target, r < 0 ? pie_profile_complain(message) : 0);
    if (status == 0 && output && size >= 0)
        tell(output, size);
    if (status == 0 && wish->is_open_wanted)
        open_in_browser(output);
    return status;
}
