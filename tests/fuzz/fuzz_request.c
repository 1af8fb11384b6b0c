/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes as the body of a request to `serve`, for each route, and as text of a model, which may hold tool
 * calls. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "generate/fields.h"
#include "serve/answer.h"
#include "serve/server.h"

static void read_as(enum graft_request_kind kind, const char *text, size_t size,
                    const struct graft_request_context *context) {
    struct graft_request request = {0};
    struct graft_fault fault = {0};
    struct graft_image_processor *processor = NULL;
    struct graft_ids *prompts = NULL;
    size_t n = 0;
    int failed = graft_request_read(text, size, kind, context, &request, &fault);
    if (failed == 0 && kind != GRAFT_REQUEST_DETOKENIZE && request.messages == NULL) {
        failed = graft_request_encode(&request, NULL, NULL, context->vocab_size, &prompts, &n, &fault);
        graft_request_prompts_free(prompts, n);
    }
    if (failed == 0 && kind == GRAFT_REQUEST_CHAT) {
        failed = graft_request_read_images(&request, NULL, &processor, &fault);
    }
    if ((failed != 0) != (fault.http != 0) || (failed != 0 && fault.message[0] == '\0')) {
        abort();
    }
    graft_json_free(failed != 0 ? graft_fault_json(&fault) : NULL);
    graft_request_finish(&request);
}

static void read_calls(const char *text, size_t size) {
    static const char tools[] = "[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]";
    struct graft_server server = {0};
    graft_json *known = NULL;
    size_t content = 0;
    if (graft_json_parse(tools, sizeof tools - 1, "tools", &known, NULL) == GRAFT_OK) {
        int ran_out = 0;
        graft_json *calls = graft_calls_parse(&server, text, size, known, 1, &content, &ran_out);
        if (content > size || graft_calls_begin(text, size, 0) > size) {
            abort();
        }
        graft_json_free(calls);
    }
    graft_json_free(known);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const adapters[] = {"a"};
    const struct graft_generation generation = graft_generation_default();
    const struct graft_request_context context = {.name = "m",
                                                  .adapters = adapters,
                                                  .n_adapters = 1,
                                                  .vocab_size = 100,
                                                  .max_new_tokens = 64,
                                                  .generation = &generation};
    char *text = malloc(size + 1); /* so that a read past the end is seen */
    if (text != NULL) {
        memcpy(text, bytes, size);
        text[size] = '\0';
        for (int kind = GRAFT_REQUEST_COMPLETION; kind <= GRAFT_REQUEST_DETOKENIZE; kind *= 2) {
            read_as((enum graft_request_kind)kind, text, size, &context);
        }
        char *exact = malloc(size > 0 ? size : 1);
        if (exact != NULL) {
            memcpy(exact, bytes, size);
            read_calls(exact, size);
        }
        free(exact);
    }
    free(text);
    return 0;
}
