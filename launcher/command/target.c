/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/command/target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/command/command.h"
#include "launcher/text/messages.h"
#include "storage/file/temporary.h"

static bool is_profile_itself(const char *profile, const struct stat *output) {
    struct stat database;
    return stat(profile, &database) == 0 && database.st_dev == output->st_dev &&
           database.st_ino == output->st_ino;
}

static int complain(const char *output) {
    pie_message_error("cannot write %s: %s; name another file", output, strerror(errno));
    return -EIO;
}

int pie_target_open(const char *output, const char *profile, struct pie_target *target) {
    struct stat status;
    *target = (struct pie_target){.out = stdout, .name = output ? output : "the output"};
    if (!output)
        return 0;
    bool exists = stat(output, &status) == 0;
    if (exists && is_profile_itself(profile, &status)) {
        pie_message_error("%s is the profile itself; name another file", output);
        return -EEXIST;
    }
    if (!exists || S_ISREG(status.st_mode)) {
        target->real = exists ? realpath(output, NULL) : NULL;
        int fd = pie_temporary_open(target->real ? target->real : output, &target->temporary);
        errno = fd < 0 ? -fd : 0;
        target->out = fd < 0 ? NULL : fdopen(fd, "w");
    } else {
        target->out = fopen(output, "we");
    }
    if (target->out)
        return 0;
    int r = complain(output);
    free(target->temporary);
    free(target->real);
    return r;
}

int pie_target_close(struct pie_target *target, int status) {
    status = pie_profile_close_output(target->out, target->name, status);
    if (target->out != stdout)
        fclose(target->out);
    if (status == 0 && target->temporary &&
        rename(target->temporary, target->real ? target->real : target->name) < 0) {
        (void)complain(target->name);
        status = PIE_PROFILE_FAILED;
    }
    if (status != 0 && target->temporary)
        unlink(target->temporary);
    free(target->temporary);
    free(target->real);
    return status;
}
