/* SPDX-License-Identifier: Apache-2.0 */

/* Which calls of the exec family start our interpreter, and what they become. Everything here also runs
 * between vfork and exec, in a child that shares our memory while its parent's thread stands still: system
 * calls and the stack only.
 *
 * A script is what the kernel makes of it (fs/binfmt_script.c): "#!", blanks, the interpreter, and optionally
 * one argument that reaches to the end of the line; argv becomes interpreter, argument, path of the script,
 * argv[1]….
 * "#!/usr/bin/env python3" is followed too, as env would, by the PATH of the new environment. */

#include "runtime/libc/exec_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "profiler/heap/known_prices.h"
#include "runtime/interpreter/sanitizer.h"
#include "runtime/libc/exec.h"
#include "runtime/interpreter/target.h"

struct pie_exec_settings pie_exec_settings;

static size_t length_of(char *const *vector) {
    size_t n = 0;
    while (vector && vector[n])
        n++;
    return n;
}

static bool has_name(const char *entry, const char *assignment) {
    size_t name = (size_t)(strchrnul(assignment, '=') - assignment);
    return strncmp(entry, assignment, name) == 0 && entry[name] == '=';
}

static char *put_decimal(char *out, long value) {
    char digits[24];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0)
        *out++ = digits[--n];
    return out;
}

/* "<run>:<parent>", then the prices that are known: they are measured too late for the settings.
 * snprintf() may allocate and is not async-signal-safe. */
static void write_run_variable(struct pie_exec_plan *plan, long run_id) {
    static const char name[] = PIE_EXEC_RUN_VARIABLE "=";
    memcpy(plan->run_variable, name, sizeof name - 1);
    char *p = put_decimal(plan->run_variable + sizeof name - 1, run_id);
    *p++ = ':';
    p = put_decimal(p, atomic_load_explicit(&pie_exec_settings.parent, memory_order_relaxed));
    uint32_t prices[PIE_HEAP_PRICES];
    bool has_prices = pie_heap_prices_known(prices);
    for (int i = 0; has_prices && i < PIE_HEAP_PRICES; i++) {
        *p++ = ':';
        p = put_decimal(p, (long)prices[i]);
    }
    *p = '\0';
}

static const char *value_in(char *const *envp, const char *name) {
    for (; envp && *envp; envp++) {
        if (has_name(*envp, name))
            return *envp + strlen(name) + 1;
    }
    return NULL;
}

/* The entry that has the interpreter take us in: before the libraries that the program preloads. NULL: no room, or one
 * of theirs has to come first. */
static const char *join_preload(struct pie_exec_plan *plan, char *const *envp) {
    const char *ours = pie_exec_settings.preload, *theirs = value_in(envp, "LD_PRELOAD");
    if (!theirs || !*theirs)
        return ours;
    size_t n = strlen(ours), more = strlen(theirs);
    if (n + 1 + more + 1 > sizeof plan->preload || pie_sanitizer_is_preloaded(theirs))
        return NULL;
    memcpy(plan->preload, ours, n);
    plan->preload[n] = ':';
    memcpy(plan->preload + n + 1, theirs, more + 1);
    return plan->preload;
}

/* Puts the environment and our variables behind what the vector already holds. They come last: a guest cuts them off
 * (launcher/guest/environment.c). */
static bool add_environment(struct pie_exec_plan *plan, size_t used, char *const *envp,
                            const char *child_variable, long run_id) {
    const char *preload = pie_exec_settings.preload ? join_preload(plan, envp) : NULL;
    if (used + length_of(envp) + 3 + (preload != NULL) > PIE_EXEC_VECTOR_MAX ||
        (pie_exec_settings.preload && !preload))
        return false;
    write_run_variable(plan, run_id);
    plan->envp = plan->vector + used;
    for (; envp && *envp; envp++) {
        if (!has_name(*envp, child_variable) && !has_name(*envp, PIE_EXEC_RUN_VARIABLE))
            plan->vector[used++] = *envp;
    }
    if (preload)
        plan->vector[used++] = (char *)preload; /* execve(2) takes char *, and only reads it */
    plan->vector[used++] = (char *)child_variable;
    plan->vector[used++] = plan->run_variable;
    plan->vector[used] = NULL;
    return true;
}

static bool is_our_interpreter(const char *path) {
    const struct pie_exec_settings *settings = &pie_exec_settings;
    return (settings->has_target && pie_image_is_at(&settings->target, path)) ||
           (settings->has_self && pie_target_is_python_name(path) && pie_image_is_at(&settings->self, path));
}

/* Cuts the first line of a script into interpreter and argument (NULL: none), in place. */
static bool cut_shebang(char *line, ssize_t length, char **ret_interpreter, char **ret_argument) {
    if (length < 3 || line[0] != '#' || line[1] != '!')
        return false;
    char *end = memchr(line, '\n', (size_t)length);
    if (!end) /* the kernel too refuses a line that it cannot see the end of, unless the file ends there */
        end = line + length;
    while (end > line + 2 && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    char *interpreter = line + 2 + strspn(line + 2, " \t");
    char *argument = interpreter + strcspn(interpreter, " \t");
    if (*interpreter == '\0')
        return false;
    if (*argument != '\0') {
        *argument++ = '\0';
        argument += strspn(argument, " \t");
    }
    *ret_interpreter = interpreter;
    *ret_argument = *argument ? argument : NULL;
    return true;
}

/* "#!/usr/bin/env NAME": *interpreter becomes NAME if that is our interpreter on the PATH of envp. */
static bool follow_env(struct pie_exec_plan *plan, char **interpreter, char **argument, char *const *envp) {
    const char *slash = strrchr(*interpreter, '/');
    const char *search_path = value_in(envp, "PATH");
    if (!slash || strcmp(slash, "/env") != 0 || !*argument || !search_path)
        return false;
    if (**argument == '-' || strpbrk(*argument, " \t=/"))
        return false;
    if (pie_target_search(*argument, search_path, plan->found) < 0 || !is_our_interpreter(plan->found)) {
        plan->found[0] = '\0';
        return false;
    }
    *interpreter = *argument;
    *argument = NULL;
    return true;
}

static bool read_shebang(struct pie_exec_plan *plan, const char *path, char *const *envp,
                         char **ret_interpreter, char **ret_argument) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n;
    do {
        n = read(fd, plan->shebang, sizeof plan->shebang - 1);
    } while (n < 0 && errno == EINTR);
    close(fd);
    if (!cut_shebang(plan->shebang, n, ret_interpreter, ret_argument))
        return false;
    return is_our_interpreter(*ret_interpreter) || follow_env(plan, ret_interpreter, ret_argument, envp);
}

/* argv of a script run by our interpreter; returns the entries used with the closing NULL, 0 if there is no
 * room. */
static size_t add_script_arguments(struct pie_exec_plan *plan, char *interpreter, char *argument,
                                   const char *path, char *const *argv) {
    size_t given = length_of(argv), used = 0;
    if (given + 4 > PIE_EXEC_VECTOR_MAX)
        return 0;
    plan->vector[used++] = interpreter;
    if (argument)
        plan->vector[used++] = argument;
    plan->vector[used++] = (char *)path;
    for (size_t i = 1; i < given; i++)
        plan->vector[used++] = argv[i];
    plan->vector[used++] = NULL;
    return used;
}

/* A guest's interpreter is found by the kernel, as without us. But env must not be preloaded into: what it would
 * execute is executed. */
static void execute_script(struct pie_exec_plan *plan) {
    if (pie_exec_settings.preload && !plan->found[0])
        return;
    plan->argv = plan->vector;
    if (plan->found[0])
        plan->path = plan->found;
}

static const char *start_plan(struct pie_exec_plan *plan, const char *path, char *const *argv,
                              char *const *envp) {
    plan->path = path;
    plan->found[0] = '\0';
    plan->argv = argv;
    plan->envp = envp;
    return atomic_load_explicit(&pie_exec_settings.child_variable, memory_order_acquire);
}

bool pie_exec_plan_path(struct pie_exec_plan *plan, const char *path, char *const *argv, char *const *envp,
                        long run_id) {
    int saved_errno = errno;
    const char *child_variable = start_plan(plan, path, argv, envp);
    bool redirected = false;
    if (child_variable && path && access(path, X_OK) == 0) {
        char *interpreter, *argument;
        size_t used;
        if (is_our_interpreter(path)) {
            redirected = add_environment(plan, 0, envp, child_variable, run_id);
        } else if (read_shebang(plan, path, envp, &interpreter, &argument)) {
            used = add_script_arguments(plan, interpreter, argument, path, argv);
            redirected = used > 0 && add_environment(plan, used, envp, child_variable, run_id);
            if (redirected)
                execute_script(plan);
        }
    }
    if (redirected && !pie_exec_settings.preload)
        plan->path = pie_exec_settings.self_path;
    errno = saved_errno;
    return redirected;
}

bool pie_exec_plan_open(struct pie_exec_plan *plan, int fd, char *const *argv, char *const *envp,
                        long run_id) {
    int saved_errno = errno;
    const char *child_variable = start_plan(plan, NULL, argv, envp);
    bool redirected = child_variable && pie_exec_settings.has_target &&
                      pie_image_is_open(&pie_exec_settings.target, fd) &&
                      add_environment(plan, 0, envp, child_variable, run_id);
    if (redirected && !pie_exec_settings.preload)
        plan->path = pie_exec_settings.self_path;
    errno = saved_errno;
    return redirected;
}
