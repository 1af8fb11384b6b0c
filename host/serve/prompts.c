/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the prompts of a request: images, token ids, and the images' positions in them. */
#include "graft/host/image.h"
#include "serve/server.h"

int graft_server_encode(struct graft_server *server, struct graft_request *request, struct graft_ids **prompts,
                        size_t *n, struct graft_fault *fault) {
    struct graft_error error = graft_error_none();
    *prompts = NULL;
    *n = 0;
    if (graft_request_read_images(request, server->model, &server->images, fault) != 0 ||
        graft_request_encode(request, server->tokenizer, server->chat, server->context.vocab_size, prompts, n, fault) !=
            0) {
        return -1;
    }
    return request->n_images == 0 || graft_model_place_images(server->model, server->tokenizer, request->images,
                                                              request->n_images, &(*prompts)[0], &error) == GRAFT_OK
               ? 0
               : graft_fault_from_error(fault, &error, "messages");
}
