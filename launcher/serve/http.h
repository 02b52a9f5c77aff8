/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/serve/answer.h"

/* HTTP on a port of loopback, by libmicrohttpd, which is loaded for this command only (docs/design/44-serve.md).
 * Context: cli. */

struct pie_http;

/* Listens on 127.0.0.1, and on ::1 where that can be had. port 0: one that is free. site is borrowed, and answers once
 * pie_http_run() is called. Returns 0, or -errno: -EADDRINUSE, -EACCES, …, -ENOSYS: this program was built without
 * the library, -ELIBACC: it is not installed. */
int pie_http_open(unsigned port, const struct pie_site *site, struct pie_http **ret_http, unsigned *ret_port);
/* Answers until the descriptor can be read from. Returns 0 or -errno. */
int pie_http_run(struct pie_http *http, int stop);
void pie_http_close(struct pie_http *http);
