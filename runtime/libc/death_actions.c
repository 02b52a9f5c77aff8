/* SPDX-License-Identifier: Apache-2.0 */

/* What the program sees of the dispositions of deadly signals. The kernel's is the truth, except that our handler means
 * the default; flags and mask that the program gave with it are remembered, since sigaction() returns them. No lock:
 * the program may call sigaction() in a handler that interrupted another one of its calls. */

#include "runtime/libc/death.h"
#include "runtime/libc/death_state.h"
#include "runtime/libc/signals_state.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No core, and no clock's. SIGINT is Python's own but at the program's beginning and end. */
static const int DEADLY[] = {SIGHUP,  SIGINT,  SIGUSR1,   SIGUSR2, SIGPIPE,
                             SIGALRM, SIGTERM, SIGVTALRM, SIGIO,   SIGPWR};
enum { DEADLY_COUNT = sizeof DEADLY / sizeof *DEADLY };

/* What the C library adds to each action, and shows. */
static const int RESTORER_FLAG = 0x04000000; /* SA_RESTORER, of the kernel's headers only */
static void (*restorer)(void);

/* Before threads exist; not in a forked child that is process 1, nor once a thread is filtered (filter.c). */
static _Atomic bool installed;

static struct sigaction ours(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    /* 32 and 33 are the C library's own */
    uint64_t mask =
        ~(pie_signals_bit(SIGSEGV) | pie_signals_bit(SIGBUS) | pie_signals_bit(32) | pie_signals_bit(33));

    action.sa_sigaction = pie_death_on_signal;
    memcpy(&action.sa_mask, &mask, sizeof mask);
    return action;
}

void pie_death_install(void) {
    struct sigaction old, action = ours();

    if (syscall(SYS_getpid) == 1)
        return;
    for (int i = 0; i < DEADLY_COUNT; i++) {
        if (pie_real_sigaction(DEADLY[i], NULL, &old) != 0 || old.sa_handler != SIG_DFL)
            continue;
        pie_signals_set_virtual(DEADLY[i], &old);
        pie_real_sigaction(DEADLY[i], &action, NULL);
    }
    if (pie_real_sigaction(SIGSEGV, NULL, &old) == 0 && (old.sa_flags & RESTORER_FLAG))
        restorer = old.sa_restorer;
    installed = true;
}

void pie_death_release(void) {
    for (int i = 0; i < DEADLY_COUNT && installed; i++)
        if (pie_death_is_ours(DEADLY[i]))
            pie_real_sigaction(DEADLY[i], pie_signals_virtual(DEADLY[i]), NULL);
    installed = false;
}

void pie_death_fork_child(void) {
    pie_death_forget();
    if (installed && syscall(SYS_getpid) == 1)
        pie_death_release();
}

bool pie_death_is_shown(int signal) {
    if (!installed || !pie_signals_are_virtual())
        return false;
    for (int i = 0; i < DEADLY_COUNT; i++)
        if (DEADLY[i] == signal)
            return true;
    return false;
}

static void remember(int signal, const struct sigaction *action) {
    struct sigaction kept = *action;

    if (restorer) {
        kept.sa_flags |= RESTORER_FLAG;
        kept.sa_restorer = restorer;
    }
    sigdelset(&kept.sa_mask, SIGKILL);
    sigdelset(&kept.sa_mask, SIGSTOP);
    pie_signals_set_virtual(signal, &kept);
}

int pie_death_sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old) {
    struct sigaction before = *pie_signals_virtual(signal), handler = ours(), old;
    bool is_default = action && action->sa_handler == SIG_DFL;

    if (is_default)
        remember(signal, action);
    if (pie_real_sigaction(signal, is_default ? &handler : action, &old) != 0)
        return -1;
    if (ret_old)
        *ret_old = pie_death_is_our_action(&old) ? before : old;
    return 0;
}

__sighandler_t pie_death_handler_seen(__sighandler_t handler) {
    return (uintptr_t)handler == (uintptr_t)pie_death_on_signal ? SIG_DFL : handler;
}
