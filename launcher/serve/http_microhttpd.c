/* SPDX-License-Identifier: Apache-2.0 */

/* The library brings nine others along, for TLS, which is not wanted here. It is loaded when asked for: every start of
 * every profiled program would pay for what is linked. It runs on this thread only, so no answer meets another. */

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/serve/http.h"

enum {
    BOTH = 2, /* IPv4 and IPv6 */
    BACKLOG = 16,
    CONNECTIONS_MAX = 32, /* of each */
    IDLE_S = 60,          /* before a connection is closed */
};

static const char library_name[] = "libmicrohttpd.so.12";

#define FUNCTIONS(DO)                                                                                        \
    DO(MHD_start_daemon)                                                                                     \
    DO(MHD_stop_daemon)                                                                                      \
    DO(MHD_get_daemon_info)                                                                                  \
    DO(MHD_get_timeout)                                                                                      \
    DO(MHD_run)                                                                                              \
    DO(MHD_lookup_connection_value)                                                                          \
    DO(MHD_create_response_from_buffer)                                                                      \
    DO(MHD_add_response_header)                                                                              \
    DO(MHD_queue_response)                                                                                   \
    DO(MHD_destroy_response)

struct library {
    void *handle;
#define POINTER(name) __typeof__(name) *name;
    FUNCTIONS(POINTER)
};

struct pie_http {
    struct library library;
    const struct pie_site *site;
    struct MHD_Daemon *daemons[BOTH];
};

static int load(struct library *library) {
    library->handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return -ELIBACC;
#define LOAD(name) library->name = (__typeof__(library->name))dlsym(library->handle, #name);
    FUNCTIONS(LOAD)
#define MISSING(name) || !library->name
    if (false FUNCTIONS(MISSING))
        return -ELIBACC;
    return 0;
}

/* From the query, else from the header, else from the cookie. */
static const char *find_token(const struct pie_http *http, struct MHD_Connection *connection) {
    static const char bearer[] = "Bearer ";
    const struct library *library = &http->library;
    char cookie[32];
    const char *token = library->MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    if (token)
        return token;
    token = library->MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    if (token && strncmp(token, bearer, strlen(bearer)) == 0)
        return token + strlen(bearer);
    snprintf(cookie, sizeof cookie, "pieprof-%u", http->site->gate.port);
    return library->MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, cookie);
}

static enum MHD_Result send_answer(const struct library *library, struct MHD_Connection *connection,
                                   struct pie_answer *answer) {
    enum MHD_ResponseMemoryMode mode = answer->made ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT;
    struct MHD_Response *response =
        library->MHD_create_response_from_buffer(answer->size, (void *)answer->body, mode);
    if (!response)
        return MHD_NO;
    answer->made = NULL; /* the library's */
    for (int i = 0; i < answer->header_count; i++)
        library->MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
    enum MHD_Result result = library->MHD_queue_response(connection, answer->status, response);
    library->MHD_destroy_response(response);
    return result;
}

/* Called first when the headers are there. Nothing that is sent along is wanted, so that is the time to answer. */
static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data, size_t *size,
                                  void **about_request) {
    const struct pie_http *http = owner;
    const struct library *library = &http->library;
    struct pie_answer answer;
    struct pie_request request = {
        .method = method,
        .path = url,
        .host = library->MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
        .origin = library->MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
        .token = find_token(http, connection),
        .if_not = library->MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match"),
    };
    pie_answer_make(http->site, &request, &answer);
    enum MHD_Result result = send_answer(library, connection, &answer);
    pie_answer_finish(&answer);
    return result;
}

/* Returns a socket that listens, or -errno. */
static int listen_on(const struct sockaddr *address, socklen_t size) {
    int yes = 1;
    int listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return -errno;
    /* of connections that have ended nothing is left in the way; a server that lives still is */
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->sa_family == AF_INET6)
        setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(listener, address, size) == 0 && listen(listener, BACKLOG) == 0)
        return listener;
    int error = errno;
    close(listener);
    return -error;
}

static int start(struct pie_http *http, int listener, struct MHD_Daemon **ret_daemon) {
    *ret_daemon = http->library.MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_S, MHD_OPTION_END);
    if (*ret_daemon)
        return 0;
    close(listener);
    return -ENOMEM;
}

static int start_ipv4(struct pie_http *http, unsigned port, unsigned *ret_port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = listen_on((const struct sockaddr *)&address, size);
    if (listener < 0)
        return listener;
    getsockname(listener, (struct sockaddr *)&address, &size);
    *ret_port = ntohs(address.sin_port);
    return start(http, listener, &http->daemons[0]);
}

/* Its absence, or another program that has the port there, does no harm: the address that is printed is the other. */
static void start_ipv6(struct pie_http *http, unsigned port) {
    struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int listener = listen_on((const struct sockaddr *)&address, sizeof address);
    if (listener >= 0)
        (void)start(http, listener, &http->daemons[1]);
}

int pie_http_open(unsigned port, const struct pie_site *site, struct pie_http **ret_http,
                  unsigned *ret_port) {
    struct pie_http *http = calloc(1, sizeof *http);
    if (!http)
        return -ENOMEM;
    http->site = site;
    int r = load(&http->library);
    if (r == 0)
        r = start_ipv4(http, port, ret_port);
    if (r < 0) {
        pie_http_close(http);
        return r;
    }
    start_ipv6(http, *ret_port);
    *ret_http = http;
    return 0;
}

/* How long both can do without being run: milliseconds, -1: for ever. */
static int timeout_ms(const struct pie_http *http) {
    int least = -1;
    for (int i = 0; i < BOTH; i++) {
        unsigned long long ms;
        if (http->daemons[i] && http->library.MHD_get_timeout(http->daemons[i], &ms) == MHD_YES)
            least = least < 0 || (int)ms < least ? (int)ms : least;
    }
    return least;
}

int pie_http_run(struct pie_http *http, int stop) {
    struct pollfd waits[BOTH + 1] = {{.fd = stop, .events = POLLIN}};
    for (int i = 0; i < BOTH; i++) {
        const union MHD_DaemonInfo *info =
            http->daemons[i] ? http->library.MHD_get_daemon_info(http->daemons[i], MHD_DAEMON_INFO_EPOLL_FD)
                             : NULL;
        waits[i + 1] = (struct pollfd){.fd = info ? info->epoll_fd : -1, .events = POLLIN};
    }
    for (;;) {
        if (poll(waits, BOTH + 1, timeout_ms(http)) < 0 && errno != EINTR)
            return -errno;
        if (waits[0].revents)
            return 0;
        for (int i = 0; i < BOTH; i++)
            if (http->daemons[i] && http->library.MHD_run(http->daemons[i]) != MHD_YES)
                return -EIO;
    }
}

void pie_http_close(struct pie_http *http) {
    if (!http)
        return;
    for (int i = 0; i < BOTH; i++)
        if (http->daemons[i])
            http->library.MHD_stop_daemon(http->daemons[i]);
    if (http->library.handle)
        dlclose(http->library.handle);
    free(http);
}
