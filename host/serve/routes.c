/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that are answered without the engine. */
#include <event2/http.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/json_writer.h"
#include "graft/host/model.h"
#include "serve/answer.h"
#include "serve/answer_job.h"
#include "serve/server.h"

void graft_route_health(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    (void)body, (void)length;
    graft_writer_set_string(&writer, document, "status", server->is_stopping ? "stopping" : "ok");
    graft_http_send_json(server, http, server->is_stopping ? 503 : 200, graft_writer_finish(&writer, document));
}

/* --- Models --- */

/* Describes the model, or one of its adapters if `adapter` is not NULL. */
static graft_json *describe_model(struct graft_writer *writer, const struct graft_server *server, const char *adapter) {
    const int64_t positions = graft_model_max_positions(server->model);
    graft_json *item = graft_json_new_object();
    char *id =
        adapter != NULL ? graft_format("%s:%s", server->options.name, adapter) : graft_strdup(server->options.name);
    writer->failed |= id == NULL;
    graft_writer_set_string(writer, item, "id", id);
    graft_writer_set_string(writer, item, "object", "model");
    graft_writer_set_int(writer, item, "created", 0);
    graft_writer_set_string(writer, item, "owned_by", "graft");
    graft_writer_set_string(writer, item, "parent", adapter != NULL ? server->options.name : NULL);
    graft_writer_set(writer, item, "max_model_len",
                     positions > 0 ? graft_json_new_int(positions) : graft_json_new_string(NULL));
    graft_free(id);
    return item;
}

void graft_route_models(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *list = graft_json_new_array();
    (void)body, (void)length;
    graft_writer_append(&writer, list, describe_model(&writer, server, NULL));
    for (size_t i = 0; i < server->options.n_adapters; i++) {
        graft_writer_append(&writer, list, describe_model(&writer, server, server->options.adapters[i]));
    }
    graft_writer_set_string(&writer, document, "object", "list");
    graft_writer_set(&writer, document, "data", list);
    graft_http_send_json(server, http, 200, graft_writer_finish(&writer, document));
}

void graft_route_model(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    static const char route[] = "/v1/models/";
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(http)) + sizeof route - 1;
    char *name = evhttp_uridecode(path, 0, NULL);
    struct graft_writer writer = {0};
    struct graft_fault fault = {0};
    const char *adapter = NULL;
    (void)body, (void)length;
    if (name != NULL && graft_request_find_model(&server->context, name, &adapter)) {
        graft_json *document = describe_model(&writer, server, adapter);
        graft_http_send_json(server, http, 200, graft_writer_finish(&writer, document));
    } else {
        (void)graft_fault_set(&fault, 404, "model_not_found", "model", "there is no model \"%.200s\" here",
                              name != NULL ? name : "");
        graft_http_send_fault(server, http, &fault);
    }
    free(name); /* allocated by libevent with malloc */
}

/* --- Tokens --- */

graft_json *graft_tokens_json(const struct graft_server *server, const struct graft_ids *ids) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *list = graft_json_new_array();
    const int64_t positions = graft_model_max_positions(server->model);
    for (size_t i = 0; i < ids->n; i++) {
        graft_writer_append(&writer, list, graft_json_new_int(ids->ids[i]));
    }
    graft_writer_set_int(&writer, document, "count", (int64_t)ids->n);
    graft_writer_set(&writer, document, "max_model_len",
                     positions > 0 ? graft_json_new_int(positions) : graft_json_new_string(NULL));
    graft_writer_set(&writer, document, "tokens", list);
    return graft_writer_finish(&writer, document);
}

static int read_ids(const struct graft_server *server, const graft_json *list, struct graft_ids *ids,
                    struct graft_fault *fault) {
    if (graft_json_type(list) != GRAFT_JSON_ARRAY) {
        return graft_fault_set(fault, 400, "invalid_type", "tokens", "tokens: expected an array of ids");
    }
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        const int64_t id = graft_json_int(item);
        if (graft_json_type(item) != GRAFT_JSON_INT || id < 0 || id >= server->context.vocab_size) {
            return graft_fault_set(fault, 400, "invalid_value", "tokens", "tokens[%zu]: expected an id below %lld", i,
                                   (long long)server->context.vocab_size);
        }
        graft_ids_add(ids, (int32_t)id);
    }
    if (server->tokenizer == NULL) {
        return graft_fault_set(fault, 400, "unsupported_value", "model", "the model has no tokenizer");
    }
    return ids->failed ? graft_fault_memory(fault) : 0;
}

void graft_route_detokenize(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct graft_request request = {0};
    struct graft_fault fault = {0};
    struct graft_error error = graft_error_none();
    struct graft_ids ids = {0};
    struct graft_text text = {0};
    int failed = graft_request_read(body, length, GRAFT_REQUEST_DETOKENIZE, &server->context, &request, &fault) != 0 ||
                 read_ids(server, request.ids, &ids, &fault) != 0;
    if (!failed && graft_tokenizer_decode(server->tokenizer, ids.ids, ids.n, 0, &text, &error) != GRAFT_OK) {
        failed = graft_fault_from_error(&fault, &error, NULL) != 0;
    }
    if (failed) {
        graft_http_send_fault(server, http, &fault);
    } else {
        struct graft_writer writer = {0};
        graft_json *document = graft_json_new_object();
        graft_writer_set(&writer, document, "prompt",
                         graft_json_new_string_n(text.bytes != NULL ? text.bytes : "", text.length));
        graft_http_send_json(server, http, 200, graft_writer_finish(&writer, document));
    }
    graft_text_free(&text);
    graft_ids_free(&ids);
    graft_request_finish(&request);
}

/* --- Embeddings --- */

static graft_json *vector_json(struct graft_writer *writer, const struct graft_job *job, const float *vector) {
    graft_json *list = NULL;
    if (job->request.is_base64) {
        struct graft_text text = {0};
        graft_base64_encode((const char *)vector, (size_t)job->vector_size * sizeof *vector, &text);
        list = text.failed ? NULL : graft_json_new_string_n(text.bytes, text.length);
        graft_text_free(&text);
        return list;
    }
    list = graft_json_new_array();
    for (int64_t i = 0; i < job->vector_size; i++) {
        graft_writer_append(writer, list, graft_json_new_real((double)vector[i]));
    }
    return list;
}

graft_json *graft_job_vectors_json(const struct graft_job *job) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *list = graft_json_new_array();
    for (size_t i = 0; i < job->n_prompts; i++) {
        graft_json *item = graft_json_new_object();
        graft_writer_set_string(&writer, item, "object", "embedding");
        graft_writer_set_int(&writer, item, "index", (int64_t)i);
        graft_writer_set(&writer, item, "embedding",
                         vector_json(&writer, job, job->vectors + i * (size_t)job->vector_size));
        graft_writer_append(&writer, list, item);
    }
    graft_writer_set_string(&writer, document, "object", "list");
    graft_writer_set(&writer, document, "data", list);
    graft_writer_set_string(&writer, document, "model", job->request.model);
    graft_writer_set(&writer, document, "usage", graft_answer_usage(job));
    return graft_writer_finish(&writer, document);
}
