/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"
#include "serve/answer.h"
#include "serve/server.h"

/* The text of one token, with U+FFFD for a part of a character; `text` says whether memory ran out. */
static void decode(const struct graft_job *job, int32_t id, struct graft_text *text) {
    text->length = 0;
    if (job->server->tokenizer != NULL) {
        text->failed |= graft_tokenizer_decode(job->server->tokenizer, &id, 1, 0, text, NULL) != GRAFT_OK;
    }
    graft_text_add(text, "", 0);
}

static graft_json *bytes_of(struct graft_writer *writer, const struct graft_text *text) {
    graft_json *bytes = graft_json_new_array();
    for (size_t i = 0; i < text->length; i++) {
        graft_writer_append(writer, bytes, graft_json_new_int((unsigned char)text->bytes[i]));
    }
    return bytes;
}

/* {"token": ..., "logprob": ..., "bytes": [...]} */
static graft_json *describe(struct graft_writer *writer, const struct graft_job *job, int32_t id, float logprob,
                            struct graft_text *room) {
    graft_json *token = graft_json_new_object();
    decode(job, id, room);
    graft_writer_set(writer, token, "token", graft_json_new_string_n(room->bytes, room->length));
    graft_writer_set_real(writer, token, "logprob", (double)logprob);
    graft_writer_set(writer, token, "bytes", bytes_of(writer, room));
    return token;
}

static graft_json *of_chat(struct graft_writer *writer, const struct graft_job *job,
                           const struct graft_token_info *infos, size_t n, struct graft_text *room) {
    graft_json *document = graft_json_new_object();
    graft_json *content = graft_json_new_array();
    for (size_t i = 0; i < n; i++) {
        graft_json *token = describe(writer, job, infos[i].id, infos[i].logprob, room);
        graft_json *top = graft_json_new_array();
        for (int j = 0; j < infos[i].n_top; j++) {
            graft_writer_append(writer, top, describe(writer, job, infos[i].top[j].id, infos[i].top[j].logprob, room));
        }
        graft_writer_set(writer, token, "top_logprobs", top);
        graft_writer_append(writer, content, token);
    }
    graft_writer_set(writer, document, "content", content);
    return document;
}

static graft_json *of_completion(struct graft_writer *writer, const struct graft_job *job,
                                 const struct graft_token_info *infos, size_t n, size_t *offset,
                                 struct graft_text *room) {
    graft_json *document = graft_json_new_object();
    graft_json *tokens = graft_json_new_array(), *logprobs = graft_json_new_array();
    graft_json *tops = graft_json_new_array(), *offsets = graft_json_new_array();
    for (size_t i = 0; i < n; i++) {
        graft_json *top = graft_json_new_object();
        for (int j = 0; j < infos[i].n_top; j++) {
            decode(job, infos[i].top[j].id, room);
            graft_writer_set_real(writer, top, room->bytes != NULL ? room->bytes : "", (double)infos[i].top[j].logprob);
        }
        decode(job, infos[i].id, room);
        graft_writer_append(writer, tokens, graft_json_new_string_n(room->bytes, room->length));
        graft_writer_append(writer, logprobs, graft_json_new_real((double)infos[i].logprob));
        graft_writer_append(writer, tops, top);
        graft_writer_append(writer, offsets, graft_json_new_int((int64_t)*offset));
        *offset += room->length;
    }
    graft_writer_set(writer, document, "tokens", tokens);
    graft_writer_set(writer, document, "token_logprobs", logprobs);
    graft_writer_set(writer, document, "top_logprobs", tops);
    graft_writer_set(writer, document, "text_offset", offsets);
    return document;
}

graft_json *graft_answer_logprobs(const struct graft_job *job, const struct graft_token_info *infos, size_t n,
                                  size_t *offset) {
    struct graft_writer writer = {0};
    struct graft_text room = {0};
    graft_json *document = job->request.kind == GRAFT_REQUEST_CHAT
                               ? of_chat(&writer, job, infos, n, &room)
                               : of_completion(&writer, job, infos, n, offset, &room);
    writer.failed |= room.failed;
    graft_text_free(&room);
    return graft_writer_finish(&writer, document);
}
