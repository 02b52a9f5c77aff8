/* SPDX-License-Identifier: Apache-2.0 */

/* The link of a descriptor in /proc has its kind and path, and reading it touches nothing else: a status of a file on a
 * server that is gone would not come back. Of a socket the address is asked, which asks nobody outside. The collection
 * thread has descriptors of its own, so it borrows the socket for that moment. The thread that waits has a reference to
 * it all the while, so nobody sees one more. Not under a seccomp filter, which may end the process for such calls. */

#include "profiler/time/wait_call.h"

#include "profiler/base/safe_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

static bool begins(const char *text, const char *begin) {
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* The end of a path says more than its beginning. */
static void set_resource(struct pie_wait_target *target, const char *text) {
    size_t length = strlen(text), most = sizeof target->resource - 1;

    memmove(target->resource, length > most ? text + length - most : text,
            (length > most ? most : length) + 1);
}

static void print_local(const struct sockaddr_un *local, socklen_t length, char *ret_text, size_t size) {
    size_t at = offsetof(struct sockaddr_un, sun_path);
    int bytes = length > at ? (int)(length - at) : 0;

    if (bytes > 0 && local->sun_path[0] == '\0') /* no file's name */
        snprintf(ret_text, size, "@%.*s", bytes - 1, local->sun_path + 1);
    else
        snprintf(ret_text, size, "%.*s", bytes, local->sun_path);
}

/* Empty: it has none. */
static void print_address(const union address *address, socklen_t length, char *ret_text, size_t size) {
    char host[INET6_ADDRSTRLEN] = "";

    ret_text[0] = '\0';
    if (address->any.sa_family == AF_INET && length >= sizeof address->v4) {
        inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
        snprintf(ret_text, size, "%s:%u", host, ntohs(address->v4.sin_port));
    } else if (address->any.sa_family == AF_INET6 && length >= sizeof address->v6) {
        inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof host);
        snprintf(ret_text, size, "[%s]:%u", host, ntohs(address->v6.sin6_port));
    } else if (address->any.sa_family == AF_UNIX && length <= sizeof address->local) {
        print_local(&address->local, length, ret_text, size);
    }
}

/* The program's socket with this inode; -1: it cannot be had. */
static int borrow(int fd, unsigned long inode) {
    struct stat status;

    if (syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
        return -1;
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pidfd < 0)
        return -1;
    int borrowed = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    close(pidfd);
    if (borrowed >= 0 && (fstat(borrowed, &status) < 0 || status.st_ino != inode)) {
        close(borrowed);
        return -1;
    }
    return borrowed;
}

/* Of its peer, or its own if it has none. */
static void see_socket(int fd, unsigned long inode, bool is_accept, struct pie_wait_target *target) {
    union address address = {0};
    socklen_t length = sizeof address.storage;
    char text[PIE_WAIT_RESOURCE_BYTES - sizeof "at "];
    int borrowed = borrow(fd, inode);

    target->cause = PIE_WAIT_SOCKET;
    if (borrowed < 0)
        return;
    bool has_peer = !is_accept && getpeername(borrowed, &address.any, &length) == 0;
    if (!has_peer)
        length = sizeof address.storage;
    bool has_address = has_peer || getsockname(borrowed, &address.any, &length) == 0;
    close(borrowed);
    if (has_address)
        print_address(&address, length, text, sizeof text);
    if (has_address && text[0])
        snprintf(target->resource, sizeof target->resource, "%s%s", has_peer ? "" : "at ", text);
}

/* In their order: the first that fits. */
static const struct {
    const char *begin;
    enum pie_wait_cause cause;
    bool has_name; /* which is worth keeping */
} kinds[] = {
    {"pipe:[", PIE_WAIT_PIPE, false},
    {"anon_inode:[eventpoll]", PIE_WAIT_POLL, false},
    {"anon_inode:[pidfd]", PIE_WAIT_CHILD, false},
    {"pidfd:[", PIE_WAIT_CHILD, false},
    {"anon_inode:[timerfd]", PIE_WAIT_SLEEP, false},
    {"anon_inode:[signalfd]", PIE_WAIT_SIGNAL, false},
    {"/dev/pts/", PIE_WAIT_TERMINAL, true},
    {"/dev/tty", PIE_WAIT_TERMINAL, true},
    {"/dev/console", PIE_WAIT_TERMINAL, true},
    {"/dev/nvidia", PIE_WAIT_GPU, true},
    {"/dev/kfd", PIE_WAIT_GPU, true},
    {"/dev/dri/", PIE_WAIT_GPU, true},
    {"/", PIE_WAIT_FILE, true},
    {"", PIE_WAIT_OTHER, true},
};

static const char *const standard[] = {"standard input", "standard output", "standard error"};

static void see_link(int fd, const char *link, struct pie_wait_target *target) {
    size_t i = 0;

    while (!begins(link, kinds[i].begin))
        i++;
    target->cause = kinds[i].cause;
    if (kinds[i].has_name)
        set_resource(target, link);
    else if (target->cause == PIE_WAIT_PIPE && fd >= 0 && fd <= STDERR_FILENO)
        set_resource(target, standard[fd]);
}

void pie_wait_descriptor(int fd, bool is_accept, struct pie_wait_target *target) {
    static const char socket[] = "socket:[";
    char path[64], link[4096];

    snprintf(path, sizeof path, "/proc/self/task/%d/fd/%d", target->tid, fd);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0)
        return;
    link[length] = '\0';
    if (begins(link, socket))
        see_socket(fd, strtoul(link + strlen(socket), NULL, 10), is_accept, target);
    else
        see_link(fd, link, target);
}

void pie_wait_address(uint64_t address, uint64_t length, struct pie_wait_target *target) {
    union address copy = {0};

    if (length <= sizeof copy && pie_safe_copy(&copy, (const void *)(uintptr_t)address, length))
        print_address(&copy, (socklen_t)length, target->resource, sizeof target->resource);
}
