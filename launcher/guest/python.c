/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/python.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher/guest/elf_file.h"
#include "runtime/interpreter/target.h"

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return -EINVAL;
}

/* Absolute, with its links. */
static bool find_program(const char *name, char ret_path[PATH_MAX]) {
    char found[PATH_MAX], folder[PATH_MAX];
    const char *search_path = getenv("PATH");
    if (!strchr(name, '/')) {
        if (!search_path || pie_target_search(name, search_path, found) < 0)
            return false;
        name = found;
    }
    if (name[0] != '/' && !getcwd(folder, sizeof folder))
        return false;
    int n =
        snprintf(ret_path, PATH_MAX, "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/", name);
    return n < PATH_MAX && access(ret_path, X_OK) == 0;
}

/* The loader takes no library from the environment of a program that gets rights by being executed. */
static bool gets_rights(const char *path) {
    struct stat st;
    return (stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID))) ||
           getxattr(path, "security.capability", NULL, 0) > 0;
}

/* "libpython3.13t.so.1.0" has it in its name. */
static bool read_name(const char *library, char ret_abi[16]) {
    int n = 0;
    return sscanf(library, "libpython%15[0-9.td]%n", ret_abi, &n) == 1 &&
           (strncmp(library + n, "so", 2) == 0 || library[n] == '\0') && strlen(ret_abi) > 3;
}

/* Py_Version of CPython 3.11 and later is PY_VERSION_HEX. The others are exported by such builds only. */
static bool read_version(const struct pie_elf_file *file, char ret_abi[16]) {
    uint64_t version = 0;
    if (!pie_elf_file_word(file, "Py_Version", &version) || version >> 32 ||
        !pie_elf_file_defines(file, "Py_RunMain"))
        return false;
    bool is_free_threaded = pie_elf_file_defines(file, "_Py_MergeZeroLocalRefcount");
    bool is_debug = pie_elf_file_defines(file, "_Py_NegativeRefcount");
    snprintf(ret_abi, 16, "%u.%u%s%s", (unsigned)(version >> 24) & 255, (unsigned)(version >> 16) & 255,
             is_free_threaded ? "t" : "", is_debug ? "d" : "");
    return true;
}

static int judge(const struct pie_elf_file *file, struct pie_guest_python *python, char *why, size_t size) {
    const char *path = python->path, *loader = pie_elf_file_loader(file);
    const char *slash = loader ? strrchr(loader, '/') : NULL;
    if (!loader)
        return refuse(why, size, "%s is linked statically: no library can be preloaded into it", path);
    if (strncmp(slash ? slash + 1 : loader, "ld-linux", 8) != 0)
        return refuse(why, size, "%s runs on %s: only on the GNU C library can it be profiled", path, loader);
    const char *library = pie_elf_file_needs(file, "libpython");
    python->is_shared = library != NULL;
    if (library ? !read_name(library, python->abi) : !read_version(file, python->abi))
        return refuse(why, size,
                      "%s exports no symbols of CPython 3.11 or later: it is stripped, or another program",
                      path);
    size_t end = strlen(python->abi);
    if (python->abi[end - 1] == '.')
        python->abi[end - 1] = '\0';
    return 0;
}

int pie_guest_python_read(const char *name, struct pie_guest_python *ret_python, char *why, size_t size) {
    *ret_python = (struct pie_guest_python){0};
    if (!find_program(name, ret_python->path))
        return refuse(why, size, "%s: no such program", name);
    if (gets_rights(ret_python->path))
        return refuse(why, size, "%s is set-user-ID or has capabilities: no library can be preloaded into it",
                      ret_python->path);
    struct pie_elf_file *file = pie_elf_file_open(ret_python->path);
    if (!file)
        return refuse(why, size, "%s is no program for x86-64 (a script?): name the interpreter itself",
                      ret_python->path);
    int r = judge(file, ret_python, why, size);
    pie_elf_file_close(file);
    return r;
}

static bool is_of_python(const char *name) {
    return strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0;
}

char *pie_guest_python_lacks(const struct pie_guest_python *python, const char *core) {
    struct pie_elf_file *file = python->is_shared ? NULL : pie_elf_file_open(python->path);
    struct pie_elf_file *library = file ? pie_elf_file_open(core) : NULL;
    const char *name;
    char *lacking = NULL;
    bool is_defined;
    for (size_t i = 0; library && !lacking && (name = pie_elf_file_symbol(library, i, &is_defined)); i++) {
        if (!is_defined && is_of_python(name) && !pie_elf_file_defines(file, name))
            lacking = strdup(name);
    }
    pie_elf_file_close(library);
    pie_elf_file_close(file);
    return lacking;
}
