/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "launcher/options/options.h"
#include "launcher/options/output_path.h"
#include "storage/write/writer.h"

int pie_session_check(const struct pie_options *options, char **ret_why) {
    char own[PATH_MAX];
    const char *output = options->config.output;
    int r = 0;
    if (options->config.is_per_process) {
        r = pie_output_expand(output, own, sizeof own);
        output = own;
    }
    if (r == 0)
        r = pie_writer_check(output, ret_why);
    /* A file stays and the profile goes beside it; a folder or device that was named is a slip. */
    bool is_file = r == -EBADMSG || r == -EEXIST || r == -EPROTO;
    if (!is_file && !(options->has_default_output && pie_writer_is_refusal(r)))
        return r;
    free(*ret_why);
    *ret_why = NULL;
    return 0;
}
