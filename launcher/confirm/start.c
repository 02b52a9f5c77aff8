/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/confirm/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/session/board.h"

/* The program runs in a child of ours, in our group and with our terminal. A Ctrl-C reaches it without us; what is sent
 * to us alone is handed on. */

static const int HANDED_ON[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static const int LEFT_TO_IT[] = {SIGINT, SIGQUIT};
enum { N_HANDED_ON = sizeof HANDED_ON / sizeof *HANDED_ON, N_LEFT = sizeof LEFT_TO_IT / sizeof *LEFT_TO_IT };

static volatile pid_t child;

static void hand_on(int signal_number) {
    if (child > 0)
        kill(child, signal_number);
}

static void set_signals(struct sigaction before[N_HANDED_ON + N_LEFT]) {
    struct sigaction on = {.sa_handler = hand_on, .sa_flags = SA_RESTART}, ignored = {.sa_handler = SIG_IGN};

    for (int i = 0; i < N_HANDED_ON; i++)
        sigaction(HANDED_ON[i], &on, &before[i]);
    for (int i = 0; i < N_LEFT; i++)
        sigaction(LEFT_TO_IT[i], &ignored, &before[N_HANDED_ON + i]);
}

static void reset_signals(const struct sigaction before[N_HANDED_ON + N_LEFT]) {
    for (int i = 0; i < N_HANDED_ON; i++)
        sigaction(HANDED_ON[i], &before[i], NULL);
    for (int i = 0; i < N_LEFT; i++)
        sigaction(LEFT_TO_IT[i], &before[N_HANDED_ON + i], NULL);
}

static _Noreturn void become(const struct pie_confirm_plan *plan, int fd) {
    static char variable[64];

    pie_confirm_board_variable(fd, variable, sizeof variable);
    if (fcntl(fd, F_SETFD, 0) < 0)
        _exit(127);
    if (plan->is_guest)
        pie_guest_enter_counted(&plan->guest, plan->words, variable);
    else if (putenv(variable) == 0)
        execv("/proc/self/exe", plan->words);
    _exit(127);
}

static double seconds(const struct timeval *time) {
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

int pie_confirm_start(const struct pie_confirm_plan *plan, int fd, struct pie_confirm_end *ret_end) {
    struct sigaction before[N_HANDED_ON + N_LEFT], children;
    struct rusage usage = {0};
    sigset_t all, mask;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
              &children); /* ignored, there is no status */
    pid_t pid = fork();
    if (pid == 0) {
        sigaction(SIGCHLD, &children, NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become(plan, fd);
    }
    int r = pid < 0 ? -errno : 0;
    child = pid;
    set_signals(before);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    while (r == 0 && wait4(pid, &ret_end->wait_status, 0, &usage) < 0)
        r = errno == EINTR ? 0 : -errno;
    child = 0;
    reset_signals(before);
    sigaction(SIGCHLD, &children, NULL);
    ret_end->cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
    return r;
}
