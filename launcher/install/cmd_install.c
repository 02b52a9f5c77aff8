/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/command/command.h"
#include "launcher/install/install.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"
#include "runtime/embed/aging.h"
#include "runtime/embed/embed.h"
#include "runtime/interpreter/replaced.h"
#include "runtime/interpreter/target.h"

static int check_words(int argc, char **argv) {
    if (argc == 2 && argv[1][0] != '-' && argv[1][0] != '\0')
        return 0;
    return pie_command_bad_words("it takes one folder");
}

static bool join(char ret_path[PATH_MAX], const struct pie_install_place *place, size_t i) {
    return snprintf(ret_path, PATH_MAX, "%s/%s", place->bin, place->names[i]) < PATH_MAX;
}

static int fail(const char *what, const char *dir, int r) {
    pie_message_error("%s %s: %s", what, dir, strerror(-r));
    return PIE_PROFILE_FAILED;
}

static int check_writable(const struct pie_install_place *place) {
    if (access(place->bin, W_OK) == 0)
        return 0;
    pie_message_error("%s cannot be changed: %s; nothing was done", place->bin, strerror(errno));
    return PIE_PROFILE_FAILED;
}

/* Is there anything to install for? Says why not. */
static int check_interpreters(const struct pie_install_place *place, const char *dir, const char *self) {
    char path[PATH_MAX];
    bool has_pieprof = false;
    for (size_t i = 0; i < place->count; i++) {
        if (!join(path, place, i))
            continue;
        enum pie_install_state state = pie_install_judge(path, self);
        if (state == PIE_INSTALL_FITS || state == PIE_INSTALL_DONE || state == PIE_INSTALL_OUTDATED)
            return 0;
        has_pieprof |= state == PIE_INSTALL_NOT_OURS;
    }
    if (has_pieprof)
        pie_message_error("the interpreters of %s lead to a pieprof already, which replaced nothing there; "
                          "nothing was done",
                          dir);
    else
        pie_message_error("the interpreters of %s are not the Python that this pieprof is built for (%s, "
                          "%s); build one with "
                          "-Dpython=%s/%s",
                          dir, pie_embed_python_version(), PIE_PYTHON, place->bin,
                          place->names[place->count - 1]);
    return PIE_PROFILE_FAILED;
}

static const char *shown_kept(const char *path, char kept[PATH_MAX]) {
    const char *slash = pie_replaced_name(path, kept) ? strrchr(kept, '/') : NULL;
    return slash ? slash + 1 : kept;
}

static void say_replaced(const char *path, const char *self) {
    char kept[PATH_MAX];
    struct stat st;
    bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    printf("%s: now %s%s; what it was is kept as %s\n", path, is_link ? "a link to " : "a copy of ", self,
           shown_kept(path, kept));
}

/* Replaces one and says so. Returns 0 or -errno. */
static int install_one(const char *path, const char *self) {
    int r = 0;
    switch (pie_install_judge(path, self)) {
    case PIE_INSTALL_FITS:
    case PIE_INSTALL_OUTDATED:
        r = pie_install_name(path, self);
        if (r == 0)
            say_replaced(path, self);
        else
            pie_message_error("%s could not be replaced: %s; it is what it was", path, strerror(-r));
        return r;
    case PIE_INSTALL_DONE:
        printf("%s: pieprof already\n", path);
        return 0;
    case PIE_INSTALL_NEIGHBOUR:
        printf("%s: left, a link to a name beside it\n", path);
        return 0;
    default:
        printf("%s: left, not Python %s of %s\n", path, pie_embed_python_version(), PIE_PYTHON);
        return 0;
    }
}

int pie_cmd_install(int argc, char **argv) {
    struct pie_install_place place;
    char self[PATH_MAX], path[PATH_MAX];
    int status = check_words(argc, argv), r;
    if (status != 0)
        return status;
    if (!pie_embed_has_python) {
        pie_message_error(
            "this pieprof has no Python to install, it runs your own: pieprof script.py; links to it "
            "named python and python3, first on the PATH, profile with PIEPROF=1");
        return PIE_PROFILE_FAILED;
    }
    if ((r = pie_target_self(self)) < 0 || (r = access(self, X_OK) < 0 ? -errno : 0) < 0)
        return fail("cannot find out where this program is;", "/proc/self/exe", r);
    r = pie_install_find(argv[1], false, &place);
    if (r == -ENOENT && access(argv[1], F_OK) == 0) {
        pie_message_error("%s is no virtual environment or prefix: no python in it or in its bin", argv[1]);
        return PIE_PROFILE_FAILED;
    }
    if (r < 0)
        return fail("cannot read", argv[1], r);
    if ((status = check_interpreters(&place, argv[1], self)) || (status = check_writable(&place)))
        return status;
    for (size_t i = 0; i < place.count && status == 0; i++)
        status = join(path, &place, i) && install_one(path, self) == 0 ? 0 : PIE_PROFILE_FAILED;
    if (status == 0 && pie_aging_describe(path, sizeof path))
        pie_message_warning("%s", path);
    return pie_profile_close_output(stdout, "what was done", status);
}

static int uninstall_one(const char *path) {
    int r = pie_uninstall_name(path);
    char kept[PATH_MAX];
    if (r == 0)
        printf("%s: what it was before pieprof\n", path);
    else if (r == -EEXIST)
        pie_message_error("%s is another interpreter now, left; what was there before pieprof is still %s",
                          path, shown_kept(path, kept));
    else
        pie_message_error("%s could not be put back: %s", path, strerror(-r));
    return r;
}

int pie_cmd_uninstall(int argc, char **argv) {
    struct pie_install_place place;
    char path[PATH_MAX];
    int status = check_words(argc, argv);
    if (status != 0)
        return status;
    int r = pie_install_find(argv[1], true, &place);
    if (r == -ENOENT && access(argv[1], F_OK) == 0) {
        printf("%s: nothing to put back\n", argv[1]);
        return pie_profile_close_output(stdout, "what was done", 0);
    }
    if (r < 0)
        return fail("cannot read", argv[1], r);
    if ((status = check_writable(&place)))
        return status;
    for (size_t i = 0; i < place.count; i++) {
        if (!join(path, &place, i) || uninstall_one(path) < 0)
            status = PIE_PROFILE_FAILED;
    }
    return pie_profile_close_output(stdout, "what was done", status);
}
