/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/python/python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/python/elf.h"

static int fail(int r, char ret_why[PIE_PYTHON_WHY_BYTES], const char *path, const char *reason) {
    snprintf(ret_why, PIE_PYTHON_WHY_BYTES, "%s %s", path, reason);
    return r;
}

static int fail_errno(char ret_why[PIE_PYTHON_WHY_BYTES], const char *path) {
    int r = -errno;

    snprintf(ret_why, PIE_PYTHON_WHY_BYTES, "%s cannot be read: %s", path, strerror(-r));
    return r;
}

static int fail_old(char ret_why[PIE_PYTHON_WHY_BYTES], const struct pie_python *python) {
    char reason[128];

    if (python->major)
        snprintf(reason, sizeof reason, "is Python %d.%d; pieprof needs 3.11 or later", python->major,
                 python->minor);
    else
        snprintf(reason, sizeof reason, "is a Python before 3.11; pieprof needs 3.11 or later");
    return fail(-ENOTSUP, ret_why, python->path, reason);
}

static int explain(enum pie_python_elf_fault fault, const struct pie_python *python,
                   char ret_why[PIE_PYTHON_WHY_BYTES]) {
    const char *path = python->path;

    switch (fault) {
    case PIE_PYTHON_ELF_OK:
        return 0;
    case PIE_PYTHON_ELF_SCRIPT:
        return fail(-ENOEXEC, ret_why, path, "is a script, not the program of an interpreter");
    case PIE_PYTHON_ELF_NO_ELF:
        return fail(-ENOEXEC, ret_why, path, "is not a program, or is damaged");
    case PIE_PYTHON_ELF_MACHINE:
        return fail(-ENOEXEC, ret_why, path, "is not a program for x86-64");
    case PIE_PYTHON_ELF_ALONE:
        return fail(-ENOTSUP, ret_why, path, "is a static program: nothing can be loaded into it");
    case PIE_PYTHON_ELF_OTHER:
        return fail(-ENOTSUP, ret_why, path, "is not CPython, or its symbols were stripped");
    case PIE_PYTHON_ELF_PYPY:
        return fail(-ENOTSUP, ret_why, path, "is PyPy; pieprof profiles CPython only");
    case PIE_PYTHON_ELF_OLD:
        return fail_old(ret_why, python);
    }
    return -EINVAL;
}

/* Not realpath(): the link of an environment is what makes it one. */
static bool make_absolute(const char *path, char ret_path[PATH_MAX]) {
    char folder[PATH_MAX] = "";
    int n;

    if (path[0] != '/' && !getcwd(folder, sizeof folder))
        return false;
    n = snprintf(ret_path, PATH_MAX, "%s%s%s", folder, folder[0] ? "/" : "", path);
    errno = ENAMETOOLONG;
    return n < PATH_MAX;
}

int pie_python_read(const char *path, struct pie_python *ret_python, char ret_why[PIE_PYTHON_WHY_BYTES]) {
    struct pie_python python = {0};
    struct stat st;

    if (!make_absolute(path, python.path) || !realpath(python.path, python.real))
        return fail_errno(ret_why, path);
    int fd = open(python.real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int r = fail_errno(ret_why, path);
        if (fd >= 0)
            close(fd);
        return r;
    }
    int r = !S_ISREG(st.st_mode) ? fail(-ENOEXEC, ret_why, python.path, "is not a file")
                                 : explain(pie_python_elf_read(fd, &python), &python, ret_why);
    close(fd);
    if (r == 0 && access(python.real, X_OK) < 0)
        r = fail(-EACCES, ret_why, python.path, "may not be executed");
    if (r == 0)
        *ret_python = python;
    return r;
}

void pie_python_abi(const struct pie_python *python, char ret_abi[PIE_PYTHON_ABI_BYTES]) {
    snprintf(ret_abi, PIE_PYTHON_ABI_BYTES, "%d.%d%s%s", python->major, python->minor,
             python->is_free_threaded ? "t" : "", python->is_debug ? "d" : "");
}
