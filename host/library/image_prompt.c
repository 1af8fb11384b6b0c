/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to a prompt's ids what processors put around images in its text; line breaks become the tokens that they would
 * be as text. */
#include <string.h>

#include "base/fail.h"
#include "graft/host/image.h"
#include "graft/host/tokenizer.h"
#include "library/library.h"

int32_t graft_model_image_place_id(const struct graft_model *model) {
    return (int32_t)graft_model_say(model, "image_place_id", graft_model_image_token_id(model));
}

/* How many line breaks a token is, and nothing else; 0: it is another text. */
static size_t breaks_of(const struct graft_tokenizer *tokenizer, int32_t id) {
    struct graft_text text = {0};
    const int status = graft_tokenizer_decode(tokenizer, &id, 1, 0, &text, NULL);
    const size_t n = status == GRAFT_OK && text.bytes != NULL ? strspn(text.bytes, "\n") : 0;
    const size_t breaks = n > 0 && n == text.length ? n : 0;
    graft_text_free(&text);
    return breaks;
}

/* Adds `n` line breaks as a tokenizer makes tokens of them together with those that are there already. */
static int add_breaks(const struct graft_tokenizer *tokenizer, size_t n, struct graft_ids *ids,
                      struct graft_error *error) {
    enum { MOST = 256 };
    char text[MOST];
    size_t there = 0;
    while (ids->n > 0 && there + n < MOST && (there = breaks_of(tokenizer, ids->ids[ids->n - 1])) > 0) {
        n += there;
        ids->n--;
    }
    n = n < MOST ? n : MOST;
    memset(text, '\n', n);
    return graft_tokenizer_encode(tokenizer, text, n, 0, ids, error);
}

/* Replaces each placeholder of an image by line breaks, the placeholder, an image token, the token that ends images,
 * and line breaks, unless image tokens follow it already. */
static int surround(const struct graft_model *model, const struct graft_tokenizer *tokenizer, struct graft_ids *ids,
                    struct graft_error *error) {
    enum { BREAKS = 2 };
    const int32_t start = graft_model_image_place_id(model), image = graft_model_image_token_id(model);
    const int64_t end = graft_model_say(model, "image_place_end_id", -1);
    struct graft_ids to = {0};
    int status = GRAFT_OK;
    int closed = 0; /* 1: only line breaks since the last image */
    for (size_t i = 0; i < ids->n && status == GRAFT_OK; i++) {
        const size_t more = closed ? breaks_of(tokenizer, ids->ids[i]) : 0;
        if (ids->ids[i] != start || (i + 1 < ids->n && ids->ids[i + 1] == image)) {
            status = more > 0 ? add_breaks(tokenizer, more, &to, error) : GRAFT_OK;
            closed = more > 0;
            if (more == 0) {
                graft_ids_add(&to, ids->ids[i]);
            }
            continue;
        }
        closed = 1;
        status = add_breaks(tokenizer, BREAKS, &to, error);
        graft_ids_add(&to, start);
        graft_ids_add(&to, image);
        if (end >= 0) {
            graft_ids_add(&to, (int32_t)end);
        }
        status = status == GRAFT_OK ? add_breaks(tokenizer, BREAKS, &to, error) : status;
    }
    if (status == GRAFT_OK && to.failed) {
        status = graft_fail_memory(error, "prompt");
    }
    struct graft_ids *unused = status == GRAFT_OK ? ids : &to;
    graft_ids_free(unused);
    *ids = status == GRAFT_OK ? to : *ids;
    return status;
}

/* The text after the last image begins with `bos`, which does not stand before the images, and ends with a line break;
 * unless it begins so already. */
static int move_bos(const struct graft_model *model, const struct graft_tokenizer *tokenizer, int32_t bos,
                    struct graft_ids *ids, struct graft_error *error) {
    const int32_t image = graft_model_image_token_id(model);
    struct graft_ids to = {0};
    size_t after = ids->n;
    while (after > 0 && ids->ids[after - 1] != image) {
        after--;
    }
    if (after == 0 || (after < ids->n && ids->ids[after] == bos)) {
        return GRAFT_OK;
    }
    for (size_t i = ids->ids[0] == bos; i < ids->n; i++) {
        if (i == after) {
            graft_ids_add(&to, bos);
        }
        graft_ids_add(&to, ids->ids[i]);
    }
    if (after == ids->n) {
        graft_ids_add(&to, bos);
    }
    int status = add_breaks(tokenizer, 1, &to, error);
    if (status == GRAFT_OK && to.failed) {
        status = graft_fail_memory(error, "prompt");
    }
    struct graft_ids *unused = status == GRAFT_OK ? ids : &to;
    graft_ids_free(unused);
    *ids = status == GRAFT_OK ? to : *ids;
    return status;
}

int graft_model_prepare_prompt(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                               struct graft_ids *ids, struct graft_error *error) {
    const int64_t bos = graft_model_say(model, "image_bos_id", -1);
    int status = GRAFT_OK;
    if (tokenizer != NULL && graft_model_image_place_id(model) != graft_model_image_token_id(model)) {
        status = surround(model, tokenizer, ids, error);
    }
    return status == GRAFT_OK && tokenizer != NULL && bos >= 0 ? move_bos(model, tokenizer, (int32_t)bos, ids, error)
                                                               : status;
}
