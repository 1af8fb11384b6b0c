/* SPDX-License-Identifier: Apache-2.0 */
/* Generates an answer: encodes the conversation, adds it as a sequence, and decodes its tokens. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/conversation.h"
#include "cli/images.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "cli/talk/stream.h"
#include "cli/talk/talk.h"
#include "cli/token_ids.h"
#include "graft/host/process.h"

/* Whether the rendered conversation ends with an opened thought. */
static int opens_thought(const struct graft_talk *talk, const struct graft_ids *ids) {
    static const char mark[] = "<think>";
    enum { LOOKED_AT = 8 };
    struct graft_text text = {0};
    const size_t n = ids->n < LOOKED_AT ? ids->n : LOOKED_AT;
    int opens = 0;
    if (graft_tokenizer_decode(talk->tokenizer, ids->ids + ids->n - n, n, 0, &text, NULL) == GRAFT_OK) {
        size_t end = text.length;
        while (end > 0 && strchr(" \n\r\t", text.bytes[end - 1]) != NULL) {
            end--;
        }
        opens = end >= sizeof mark - 1 && memcmp(text.bytes + end - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
    }
    graft_text_free(&text);
    return opens;
}

static int start(struct graft_talk *talk, const struct graft_ids *ids, int64_t *number, struct graft_error *error) {
    struct graft_ids own = {0};
    struct graft_prompt prompt = {.struct_size = sizeof prompt};
    struct graft_prompts prompts = {
        .ids = &own, .prompts = &prompt, .count = 1, .images = talk->images.items, .n_images = talk->images.n};
    graft_ids_append(&own, ids->ids, ids->n);
    int status = own.failed ? graft_fail_memory(error, "messages")
                            : graft_token_ids_check(talk->model, talk->tokenizer, &own, error);
    prompt.ids = own.ids;
    prompt.count = own.n;
    if (status == GRAFT_OK) {
        status = graft_images_fill(talk->model, talk->tokenizer, &prompts, error);
    }
    talk->counts.prompt_tokens = own.n;
    if (status == GRAFT_OK) {
        const struct graft_sequence_options options = {.struct_size = sizeof options, .generation = &talk->generation};
        status = graft_sequences_add(talk->sequences, &prompt, &options, number, error);
    }
    graft_ids_free(&own);
    return status;
}

/* Runs a step and prints its tokens. `*goes_on` becomes whether the sequence continues. */
static int take(struct graft_talk *talk, struct graft_decode_stream *decoder, struct graft_talk_stream *stream,
                const struct graft_sequence_token *tokens, size_t n, int *goes_on, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_sequence_token *token = graft_struct_at(tokens, i);
        const char *bytes = NULL;
        size_t length = 0;
        talk->counts.new_tokens++;
        status = graft_decode_stream_push(decoder, token->id, &bytes, &length, error);
        if (status == GRAFT_OK && length > 0) {
            graft_screen_end();
            graft_talk_stream_add(stream, bytes, length);
        }
        *goes_on = token->end == GRAFT_SEQUENCE_RUNNING;
    }
    return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
}

static int run(struct graft_talk *talk, int64_t number, struct graft_decode_stream *decoder,
               struct graft_talk_stream *stream, struct graft_error *error) {
    const double begun = graft_seconds();
    const char *bytes = NULL;
    size_t length = 0;
    int status = GRAFT_OK, goes_on = 1;
    graft_screen_begin("reading", GRAFT_PROGRESS_PROMPT);
    while (goes_on && status == GRAFT_OK && !graft_talk_is_interrupted()) {
        const struct graft_sequence_token *tokens = NULL;
        size_t n = 0;
        status = graft_sequences_step(talk->sequences, &tokens, &n, error);
        if (n > 0 && talk->counts.new_tokens == 0) {
            talk->counts.read_seconds = graft_seconds() - begun;
        }
        if (status == GRAFT_OK) {
            status = take(talk, decoder, stream, tokens, n, &goes_on, error);
        }
    }
    graft_screen_end();
    talk->counts.new_seconds = graft_seconds() - begun - talk->counts.read_seconds;
    if (goes_on) {
        (void)graft_sequences_remove(talk->sequences, number, NULL);
    }
    if (status == GRAFT_OK) {
        status = graft_decode_stream_end(decoder, &bytes, &length, error);
    }
    if (status == GRAFT_OK) {
        graft_talk_stream_add(stream, bytes, length);
        graft_talk_stream_end(stream);
        (void)fputs(goes_on ? " (ended)\n" : "\n", stdout);
        status = graft_output_flush(stdout, error);
    }
    return status;
}

/* Adds the answer to the messages, with thoughts in a member of their own, as templates expect. */
static int keep(struct graft_talk *talk, const struct graft_talk_stream *stream, struct graft_error *error) {
    const struct graft_text *said = &stream->said, *thought = &stream->thought;
    if (stream->held.failed || said->failed || thought->failed ||
        graft_conversation_add(talk->messages, "assistant", said->length > 0 ? said->bytes : "", said->length) != 0) {
        return graft_fail_memory(error, "messages");
    }
    graft_json *message = (graft_json *)graft_json_at(talk->messages, graft_json_size(talk->messages) - 1);
    if (thought->length > 0 && graft_json_set_take(message, "reasoning_content",
                                                   graft_json_new_string_n(thought->bytes, thought->length)) != 0) {
        return graft_fail_memory(error, "messages");
    }
    return GRAFT_OK;
}

static void tell_counts(const struct graft_talk *talk) {
    const struct graft_talk_counts *counts = &talk->counts;
    if (!talk->options->quiet && counts->new_tokens > 0) {
        graft_output_line(stderr, "%lld of %zu tokens read in %.1f s, %lld new, %.1f tokens/s",
                          (long long)counts->read_tokens, counts->prompt_tokens, counts->read_seconds,
                          (long long)counts->new_tokens,
                          counts->new_seconds > 0 ? (double)(counts->new_tokens - 1) / counts->new_seconds : 0.0);
    }
}

int graft_talk_answer(struct graft_talk *talk, struct graft_error *error) {
    struct graft_ids ids = {0};
    struct graft_decode_stream *decoder = NULL;
    struct graft_talk_stream stream = {.in_color = talk->in_color};
    struct graft_sequences_counts before = {.struct_size = sizeof before}, after = before;
    int64_t number = 0;
    talk->counts = (struct graft_talk_counts){0};
    graft_talk_clear_interrupt();
    graft_sequences_get_counts(talk->sequences, &before);
    int status = graft_chat_encode(talk->options, &talk->chat, talk->messages, &ids, error);
    if (status == GRAFT_OK) {
        stream.in_thought = opens_thought(talk, &ids);
        status = graft_decode_stream_create(talk->tokenizer, 1, &decoder, error);
    }
    if (status == GRAFT_OK) {
        status = start(talk, &ids, &number, error);
    }
    if (status == GRAFT_OK) {
        status = run(talk, number, decoder, &stream, error);
    }
    if (status == GRAFT_OK) {
        status = keep(talk, &stream, error);
    }
    graft_sequences_get_counts(talk->sequences, &after);
    talk->counts.read_tokens = after.prompt_tokens - before.prompt_tokens;
    if (status == GRAFT_OK) {
        tell_counts(talk);
    }
    graft_talk_stream_free(&stream);
    graft_decode_stream_destroy(decoder);
    graft_ids_free(&ids);
    return status;
}
