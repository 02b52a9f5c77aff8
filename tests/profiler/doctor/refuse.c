/* SPDX-License-Identifier: Apache-2.0 */

/* refuse SYSCALL… -- PROGRAM ARG…: runs a program as a container would that allows everything but these. */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} known[] = {
    {"perf_event_open", SYS_perf_event_open},
    {"timer_create", SYS_timer_create},
    {"getitimer", SYS_getitimer},
    {"setitimer", SYS_setitimer},
};

static struct sock_filter filter[32];
static unsigned short filter_length;

static void add(struct sock_filter instruction) {
    filter[filter_length++] = instruction;
}

static int refuse(const char *name) {
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].name, name) == 0) {
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, known[i].number, 0, 1));
            add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
            return 0;
        }
    fprintf(stderr, "refuse: %s is not known here\n", name);
    return -1;
}

int main(int argc, char **argv) {
    int i = 1;
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (filter_length > 24 || refuse(argv[i]) < 0)
            return 99;
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    if (i + 1 >= argc)
        return 99;
    const struct sock_fprog program = {.len = filter_length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("refuse");
        return 77;
    }
    execvp(argv[i + 1], argv + i + 1);
    perror(argv[i + 1]);
    return 99;
}
