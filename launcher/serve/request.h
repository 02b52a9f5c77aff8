/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a browser asks for. Texts are the library's, NULL where the request has none. Context: cli. */
struct pie_request {
    const char *method, *path;
    const char *host, *origin;
    const char *token;  /* of the query, the cookie or the header, whichever is there */
    const char *if_not; /* the tag of the answer that the browser has (If-None-Match) */
};
