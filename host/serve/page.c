/* SPDX-License-Identifier: Apache-2.0 */
/* The page at "/": a single document without external resources. */
#include <event2/http.h>

#include "base/text.h"
#include "serve/server.h"

static const char *const lines[] = {
#include "page_text.h"
};

void graft_route_page(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(http);
    struct graft_text text = {0};
    (void)body, (void)length;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        graft_text_add_string(&text, lines[i]);
        graft_text_add(&text, "\n", 1);
    }
    (void)evhttp_add_header(headers, "Content-Security-Policy",
                            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (text.failed) {
        graft_http_send_json(server, http, 500, NULL);
    } else {
        graft_http_send_text(server, http, "text/html; charset=utf-8", text.bytes, text.length);
    }
    graft_text_free(&text);
}
