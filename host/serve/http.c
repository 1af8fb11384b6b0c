/* SPDX-License-Identifier: Apache-2.0 */
/* Handles all requests: checks headers, keys and sizes, finds the route, and sends answers. */
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "serve/server.h"

enum { MOST_HEADERS = 16 << 10 };

static const struct route {
    const char *path; /* a path that ends in '/' matches all paths that begin with it */
    enum evhttp_cmd_type method;
    int is_open; /* open without a key */
    graft_route *answer;
} routes[] = {
    {"/health", EVHTTP_REQ_GET, 1, graft_route_health},
    {"/v1/models", EVHTTP_REQ_GET, 0, graft_route_models},
    {"/v1/models/", EVHTTP_REQ_GET, 0, graft_route_model},
    {"/v1/completions", EVHTTP_REQ_POST, 0, graft_route_completion},
    {"/v1/chat/completions", EVHTTP_REQ_POST, 0, graft_route_chat},
    {"/v1/embeddings", EVHTTP_REQ_POST, 0, graft_route_embedding},
    {"/tokenize", EVHTTP_REQ_POST, 0, graft_route_tokenize},
    {"/detokenize", EVHTTP_REQ_POST, 0, graft_route_detokenize},
    {"/metrics", EVHTTP_REQ_GET, 0, graft_route_metrics},
    {"/status", EVHTTP_REQ_GET, 0, graft_route_status},
    {"/plan", EVHTTP_REQ_GET, 0, graft_route_plan},
    {"/", EVHTTP_REQ_GET, 1, graft_route_page},
};

/* --- Answers --- */

void graft_http_begin(struct graft_server *server, struct evhttp_request *http, int code) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(http);
    graft_metrics_answer(&server->metrics, code);
    (void)evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    (void)evhttp_add_header(headers, "Cache-Control", "no-store");
    if (server->options.cors_origin != NULL) {
        (void)evhttp_add_header(headers, "Access-Control-Allow-Origin", server->options.cors_origin);
        (void)evhttp_add_header(headers, "Vary", "Origin");
    }
    if (server->is_stopping) {
        (void)evhttp_add_header(headers, "Connection", "close");
    }
}

static void send_bytes(struct graft_server *server, struct evhttp_request *http, int code, const char *type,
                       const char *text, size_t length) {
    struct evbuffer *body = evbuffer_new();
    graft_http_begin(server, http, code);
    if (type != NULL) {
        (void)evhttp_add_header(evhttp_request_get_output_headers(http), "Content-Type", type);
    }
    if (body != NULL) {
        (void)evbuffer_add(body, text, length);
    }
    evhttp_send_reply(http, code, NULL, body);
    if (body != NULL) {
        evbuffer_free(body);
    }
}

void graft_http_send_text(struct graft_server *server, struct evhttp_request *http, const char *type, const char *text,
                          size_t length) {
    send_bytes(server, http, 200, type, text, length);
}

void graft_http_send_json(struct graft_server *server, struct evhttp_request *http, int code,
                          graft_json *document_take) {
    static const char lacking[] = "{\"error\": {\"message\": \"out of memory\", \"type\": \"server_error\", "
                                  "\"param\": null, \"code\": \"internal_error\"}}";
    char *text = document_take != NULL ? graft_json_dump(document_take, 0) : NULL;
    send_bytes(server, http, text != NULL ? code : 500, "application/json", text != NULL ? text : lacking,
               strlen(text != NULL ? text : lacking));
    graft_free(text);
    graft_json_free(document_take);
}

void graft_http_send_fault(struct graft_server *server, struct evhttp_request *http, const struct graft_fault *fault) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(http);
    if (fault->http == 429 || fault->http == 503) {
        (void)evhttp_add_header(headers, "Retry-After", "1");
    }
    if (fault->http == 401) {
        (void)evhttp_add_header(headers, "WWW-Authenticate", "Bearer");
    }
    graft_http_send_json(server, http, fault->http, graft_fault_json(fault));
}

/* --- Requests --- */

static size_t size_of(const struct evkeyvalq *headers) {
    const struct evkeyval *header;
    size_t size = 0;
    for (header = headers->tqh_first; header != NULL; header = header->next.tqe_next) {
        size += strlen(header->key) + strlen(header->value) + 4;
    }
    return size;
}

/* Compares in constant time, so that timing does not reveal how much of a key is right. */
static int is_same(const char *a, const char *b) {
    const size_t n = strlen(a);
    unsigned char differs = strlen(b) != n;
    for (size_t i = 0; i < n && !(differs != 0 && i >= strlen(b)); i++) {
        differs |= (unsigned char)(a[i] ^ b[i]);
    }
    return differs == 0;
}

static int shows_key(const struct graft_server *server, struct evhttp_request *http) {
    static const char scheme[] = "Bearer ";
    const char *given = evhttp_find_header(evhttp_request_get_input_headers(http), "Authorization");
    int is_known = server->options.n_keys == 0;
    if (given == NULL || strncasecmp(given, scheme, sizeof scheme - 1) != 0) {
        return is_known;
    }
    for (size_t i = 0; i < server->options.n_keys; i++) {
        is_known |= is_same(server->options.keys[i], given + sizeof scheme - 1);
    }
    return is_known;
}

static int is_json(struct evhttp_request *http) {
    static const char type[] = "application/json";
    const char *given = evhttp_find_header(evhttp_request_get_input_headers(http), "Content-Type");
    const size_t n = sizeof type - 1;
    return given != NULL && strncasecmp(given, type, n) == 0 &&
           (given[n] == '\0' || given[n] == ';' || given[n] == ' ');
}

static const struct route *find(const char *path, enum evhttp_cmd_type method, int *is_known) {
    const struct route *found = NULL;
    *is_known = 0;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        const size_t n = strlen(routes[i].path);
        const int is_prefix = n > 1 && routes[i].path[n - 1] == '/';
        if (is_prefix ? strncmp(path, routes[i].path, n) == 0 : strcmp(path, routes[i].path) == 0) {
            *is_known = 1;
            found = routes[i].method == method ? &routes[i] : found;
        }
    }
    return found;
}

/* Checks a request before its body is read. */
static int check(const struct graft_server *server, struct evhttp_request *http, const char *path,
                 const struct route **route, struct graft_fault *fault) {
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(http);
    const size_t length = evbuffer_get_length(evhttp_request_get_input_buffer(http));
    int is_known = 0;
    *route = find(path, evhttp_request_get_command(http), &is_known);
    /* a proxy might use the other header for the length, and the rest of this request would become another one */
    if (evhttp_find_header(headers, "Transfer-Encoding") != NULL &&
        evhttp_find_header(headers, "Content-Length") != NULL) {
        (void)evhttp_add_header(evhttp_request_get_output_headers(http), "Connection", "close");
        return graft_fault_set(fault, 400, "invalid_headers", NULL,
                               "expected one of Content-Length and Transfer-Encoding, got both");
    }
    if (size_of(headers) > MOST_HEADERS) {
        return graft_fault_set(fault, 431, "headers_too_large", NULL, "the headers have more than %d bytes",
                               MOST_HEADERS);
    }
    if (length > (size_t)server->options.max_body_bytes) {
        return graft_fault_set(fault, 413, "body_too_large", NULL, "the body has more than %lld bytes",
                               (long long)server->options.max_body_bytes);
    }
    if (*route == NULL) {
        return graft_fault_set(fault, is_known ? 405 : 404, is_known ? "method_not_allowed" : "not_found", NULL,
                               is_known ? "%.200s is not asked for so" : "there is no %.200s here", path);
    }
    if (!(*route)->is_open && !shows_key(server, http)) {
        return graft_fault_set(fault, 401, "invalid_api_key", NULL, "expected a key: Authorization: Bearer KEY");
    }
    if ((*route)->method == EVHTTP_REQ_POST && !is_json(http)) {
        return graft_fault_set(fault, 415, "unsupported_media_type", NULL,
                               "expected the header Content-Type: application/json");
    }
    return 0;
}

/* Answers a browser's preflight request. */
static void send_options(struct graft_server *server, struct evhttp_request *http) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(http);
    (void)evhttp_add_header(headers, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    (void)evhttp_add_header(headers, "Access-Control-Allow-Headers", "Authorization, Content-Type");
    send_bytes(server, http, 204, NULL, "", 0);
}

void graft_http_on_request(struct evhttp_request *http, void *data) {
    struct graft_server *server = data;
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(http));
    struct evbuffer *input = evhttp_request_get_input_buffer(http);
    const size_t length = evbuffer_get_length(input);
    const struct route *route = NULL;
    struct graft_fault fault = {0};
    path = path != NULL && path[0] != '\0' ? path : "/";
    if (evhttp_request_get_command(http) == EVHTTP_REQ_OPTIONS && server->options.cors_origin != NULL) {
        send_options(server, http);
        return;
    }
    if (check(server, http, path, &route, &fault) != 0) {
        graft_http_send_fault(server, http, &fault);
        return;
    }
    const char *body = length > 0 ? (const char *)evbuffer_pullup(input, -1) : "";
    if (body == NULL) {
        (void)graft_fault_memory(&fault);
        graft_http_send_fault(server, http, &fault);
        return;
    }
    route->answer(server, http, body, length);
}
