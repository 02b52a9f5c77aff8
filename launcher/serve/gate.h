/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "launcher/serve/request.h"

/* Who may ask. A profile has the source and the command line of a program, and every user of the machine and every page
 * in the user's browser can reach a port of loopback. So a request needs a token that only this user was shown; a
 * name of loopback as its host, or a page whose name was made to point here could ask (DNS rebinding); and no other
 * origin than the page itself. Context: cli. */

enum { PIE_GATE_TOKEN_BYTES = 16, PIE_GATE_TOKEN_SIZE = 2 * PIE_GATE_TOKEN_BYTES + 1 };

struct pie_gate {
    char token[PIE_GATE_TOKEN_SIZE]; /* hexadecimal */
    unsigned port;
};

/* With a new random token. Returns 0 or -errno. */
int pie_gate_init(struct pie_gate *gate, unsigned port);

enum pie_gate_verdict {
    PIE_GATE_OPEN,
    PIE_GATE_FOREIGN_HOST,
    PIE_GATE_FOREIGN_ORIGIN,
    PIE_GATE_NO_TOKEN,
    PIE_GATE_BAD_METHOD,
};

enum pie_gate_verdict pie_gate_judge(const struct pie_gate *gate, const struct pie_request *request);
