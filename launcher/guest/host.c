/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher/guest/elf_symbols.h"
#include "launcher/python/python.h"

enum { FREE_THREADED_MINOR = 14 }; /* the first whose stacks can be read */

/* The loader takes no library from the environment of a program that gets rights by being executed. A process that has
 * got some hands them on (getauxval(3), AT_SECURE: set-user-ID, capabilities, a change of domain). */
static bool has_got_rights(void) {
    return getauxval(AT_SECURE);
}

static bool gets_rights(const char *path) {
    struct stat st;
    return (stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID))) ||
           getxattr(path, "security.capability", NULL, 0) > 0;
}

int pie_guest_host_check(const struct pie_python *python, char *why, size_t size) {
    if (has_got_rights())
        snprintf(why, size,
                 "this process runs in secure mode, as with set-user-ID: no library can be preloaded");
    else if (gets_rights(python->path))
        snprintf(why, size, "%s is set-user-ID or has capabilities: no library can be preloaded into it",
                 python->path);
    else if (python->libc != PIE_PYTHON_GLIBC)
        snprintf(why, size, "%s runs on %s: only on the GNU C library can it be profiled", python->path,
                 python->libc == PIE_PYTHON_MUSL ? "musl" : "another C library");
    else if (python->is_free_threaded && python->minor < FREE_THREADED_MINOR)
        snprintf(why, size,
                 "%s is a free-threaded Python (3.%dt), whose stacks pieprof cannot read; take one with the "
                 "GIL, or "
                 "3.%dt",
                 python->path, python->minor, FREE_THREADED_MINOR);
    else
        return 0;
    return -EINVAL;
}

int pie_guest_host_maps(const char *core, char *why, size_t size) {
    int fd = open(core, O_RDONLY | O_CLOEXEC);
    void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    int error = page == MAP_FAILED ? errno : 0;
    if (page != MAP_FAILED)
        munmap(page, 1);
    if (fd >= 0)
        close(fd);
    if (!error)
        return 0;
    snprintf(why, size, "%s cannot be loaded (%s): is it on a file system that is mounted noexec?", core,
             strerror(error));
    return -EINVAL;
}

static bool is_of_python(const char *name) {
    return strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0;
}

char *pie_guest_host_lacks(const struct pie_python *python, const char *core) {
    if (python->linkage != PIE_PYTHON_STATIC)
        return NULL;
    struct pie_elf_symbols *exported = pie_elf_symbols_read(python->path);
    struct pie_elf_symbols *library = exported ? pie_elf_symbols_read(core) : NULL;
    const char *name;
    char *lacking = NULL;
    for (size_t i = 0; library && !lacking && (name = pie_elf_symbols_needed(library, i)); i++) {
        if (is_of_python(name) && !pie_elf_symbols_defines(exported, name))
            lacking = strdup(name);
    }
    pie_elf_symbols_free(library);
    pie_elf_symbols_free(exported);
    return lacking;
}
