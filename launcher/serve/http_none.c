/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "launcher/serve/http.h"

int pie_http_open(unsigned port, const struct pie_site *site, struct pie_http **ret_http,
                  unsigned *ret_port) {
    return -ENOSYS;
}

int pie_http_run(struct pie_http *http, int stop) {
    return -ENOSYS;
}

void pie_http_close(struct pie_http *http) {}
