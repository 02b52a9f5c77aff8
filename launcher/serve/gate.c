/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/serve/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

int pie_gate_init(struct pie_gate *gate, unsigned port) {
    unsigned char bytes[PIE_GATE_TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return errno > 0 ? -errno : -EIO;
    for (int i = 0; i < PIE_GATE_TOKEN_BYTES; i++)
        snprintf(gate->token + 2 * i, 3, "%02x", bytes[i]);
    gate->port = port;
    return 0;
}

/* Port 80 is left out of both. */
static bool is_ours(const struct pie_gate *gate, const char *host, const char *before) {
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char own[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(own, sizeof own, "%s%s:%u", before, names[i], gate->port);
        if (strcasecmp(host, own) == 0)
            return true;
        snprintf(own, sizeof own, "%s%s", before, names[i]);
        if (gate->port == 80 && strcasecmp(host, own) == 0)
            return true;
    }
    return false;
}

/* Takes the same time wherever the first difference is. */
static bool is_token(const struct pie_gate *gate, const char *given) {
    unsigned char difference = 0;
    if (strlen(given) != sizeof gate->token - 1)
        return false;
    for (size_t i = 0; i < sizeof gate->token - 1; i++)
        difference |= (unsigned char)(gate->token[i] ^ given[i]);
    return difference == 0;
}

enum pie_gate_verdict pie_gate_judge(const struct pie_gate *gate, const struct pie_request *request) {
    if (!request->host || !is_ours(gate, request->host, ""))
        return PIE_GATE_FOREIGN_HOST;
    if (request->origin && !is_ours(gate, request->origin, "http://"))
        return PIE_GATE_FOREIGN_ORIGIN;
    if (!request->token || !is_token(gate, request->token))
        return PIE_GATE_NO_TOKEN;
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        return PIE_GATE_BAD_METHOD;
    return PIE_GATE_OPEN;
}
