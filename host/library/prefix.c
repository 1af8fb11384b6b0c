/* SPDX-License-Identifier: Apache-2.0 */
/* Saves prefixes of prompts to files and loads them again, and computes the identity that says which model a file is
 * valid for. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "generate/prefix_file.h"
#include "graft/host/sequences.h"
#include "kernels/cpu.h"
#include "kernels/kv_cache.h"
#include "library/library.h"
#include "library/sequences.h"

/* --- Identity --- */

static void add_text(struct graft_sha256 *hash, const char *text) {
    graft_sha256_add(hash, text, strlen(text) + 1);
}

/* Removes the paths of plugins, which do not affect the results. */
static void drop_files(graft_json *plugins) {
    for (size_t i = 0; i < graft_json_size(plugins); i++) {
        graft_json_free(graft_json_detach((graft_json *)graft_json_at(plugins, i), "file"));
    }
}

/* Adds what the plan decides about the computation. */
static int add_plan(struct graft_sha256 *hash, const struct graft_model *model, struct graft_error *error) {
    static const char *const keys[] = {"model_type", "architecture",
                                       "modules",    "parameters",
                                       "fusion",     "chains",
                                       "plugins",    "attention_implementation",
                                       "kernels",    "experts_implementation"};
    struct graft_text text = {0};
    graft_json *document = NULL;
    int status = graft_model_plan_json(model, 0, &text, error);
    if (status == GRAFT_OK) {
        status = graft_json_parse(text.bytes, text.length, model->directory, &document, error);
    }
    drop_files((graft_json *)graft_json_get(document, "plugins"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys && status == GRAFT_OK; i++) {
        char *part = graft_json_dump(graft_json_get(document, keys[i]), 0);
        status = part != NULL ? GRAFT_OK : graft_fail_memory(error, model->directory);
        if (part != NULL) {
            add_text(hash, keys[i]);
            add_text(hash, part);
        }
        graft_free(part);
    }
    graft_json_free(document);
    graft_text_free(&text);
    return status;
}

/* Adds a tensor by its name, type and shape and by samples from its start, middle and end. Samples are enough to notice
 * other weights, because training changes nearly all numbers. */
static void add_tensor(struct graft_sha256 *hash, const struct graft_tensor_view *tensor) {
    enum { SAMPLE = 64 };
    add_text(hash, tensor->name);
    graft_sha256_add(hash, &tensor->dtype, sizeof tensor->dtype);
    graft_sha256_add(hash, tensor->shape, sizeof tensor->shape);
    for (int i = 0; i < 3 && tensor->data != NULL; i++) {
        const int64_t bytes = tensor->bytes < SAMPLE ? tensor->bytes : SAMPLE;
        graft_sha256_add(hash, (const char *)tensor->data + (tensor->bytes - bytes) / 2 * i, (size_t)bytes);
    }
}

static int identify(const struct graft_model *model, const struct graft_kv_cache *kv,
                    char digits[GRAFT_SHA256_DIGITS + 1], struct graft_error *error) {
    struct graft_sha256 hash;
    const int64_t numbers[] = {graft_kv_cache_dtype(kv), model->precision, model->vocab_size};
    char *config = graft_path_join(model->directory, "config.json");
    int status = config != NULL ? graft_sha256_file(config, GRAFT_ERROR_MODEL, digits, error)
                                : graft_fail_memory(error, model->directory);
    graft_free(config);
    graft_sha256_start(&hash);
    add_text(&hash, digits);
    add_text(&hash, graft_cpu_isa_name(graft_cpu_isa()));
    graft_sha256_add(&hash, numbers, sizeof numbers);
    if (status == GRAFT_OK) {
        status = add_plan(&hash, model, error);
    }
    for (size_t i = 0; i < graft_checkpoint_count(model->checkpoint) && status == GRAFT_OK; i++) {
        add_tensor(&hash, graft_checkpoint_at(model->checkpoint, i));
    }
    graft_sha256_end(&hash, digits);
    return status;
}

/* --- Sequences --- */

/* Refuses models whose keys and values depend on more than the tokens before, and those that keep a state of the last
 * token only. */
static int check_kept(const struct graft_model *model, struct graft_error *error) {
    const char *why = NULL;
    if (model->published.plan.state_bytes > 0) {
        why = "its modules hold states, which are known after the last token only";
    } else if (graft_model_has_encoder(model)) {
        why = "its decoder follows what an encoder has read";
    } else if (graft_model_run_options(model, 1).piece == 0) {
        why = "what tokens leave behind depends on those that follow";
    } else if (model->adapters.n > 0) {
        why = "it has adapters";
    }
    return why == NULL ? GRAFT_OK
                       : graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                                         "sequences of this model cannot be kept in a file: %s", why);
}

int graft_sequences_identify(struct graft_sequences *sequences, struct graft_error *error) {
    int status = check_kept(sequences->model, error);
    if (status == GRAFT_OK && sequences->identity[0] == '\0') {
        status = identify(sequences->model, graft_session_kv(sequences->session), sequences->identity, error);
        sequences->identity[0] = status == GRAFT_OK ? sequences->identity[0] : '\0';
    }
    return status;
}

static int save(struct graft_sequences *sequences, const char *path, int64_t *tokens, struct graft_error *error) {
    int status = graft_sequences_identify(sequences, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_run_prefix prefix = graft_run_longest_prefix(sequences->run);
    if (prefix.count == 0) {
        return GRAFT_OK;
    }
    status = graft_prefix_file_write(path, sequences->identity, sequences->session, &prefix, error);
    *tokens = status == GRAFT_OK ? (int64_t)prefix.count : 0;
    return status;
}

int graft_sequences_save(struct graft_sequences *sequences, const char *path, int64_t *tokens,
                         struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = graft_check_given_path(path, "path", error);
    *tokens = 0;
    if (status == GRAFT_OK) {
        status = save(sequences, path, tokens, error);
    }
    (void)graft_context_enter(before);
    return status;
}

int graft_sequences_put(struct graft_sequences *sequences, const struct graft_prefix_file *file, int64_t *tokens,
                        struct graft_error *error) {
    struct graft_run_prefix prefix = {file->ids, file->count, -1};
    int64_t reached;
    int status = graft_run_make_prefix(sequences->run, &prefix, error);
    if (status != GRAFT_OK || prefix.slot < 0) {
        return status;
    }
    /* The layers of a slot are known once a token has been through the model. */
    status = graft_model_feed_token(sequences->model, sequences->session, prefix.slot, GRAFT_LOGITS_NONE, error);
    if (status == GRAFT_OK) {
        status = graft_session_rewind(sequences->session, prefix.slot, 0, &reached, error);
    }
    if (status == GRAFT_OK) {
        status = graft_prefix_file_read(file, sequences->session, prefix.slot, error);
    }
    if (status == GRAFT_OK) {
        graft_run_use_prefix(sequences->run, &prefix);
        *tokens = (int64_t)prefix.count;
    } else {
        graft_session_release(sequences->session, prefix.slot);
    }
    return status;
}

static int load(struct graft_sequences *sequences, const char *path, int64_t *tokens, struct graft_error *error) {
    struct graft_prefix_file file = {.fd = -1};
    int status = graft_sequences_identify(sequences, error);
    if (status == GRAFT_OK) {
        status = graft_prefix_file_open(path, sequences->identity, sequences->model->vocab_size, &file, error);
    }
    if (status == GRAFT_OK) {
        status = graft_sequences_put(sequences, &file, tokens, error);
        graft_prefix_file_close(&file);
    }
    return status;
}

int graft_sequences_load(struct graft_sequences *sequences, const char *path, int64_t *tokens,
                         struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = graft_check_given_path(path, "path", error);
    *tokens = 0;
    if (status == GRAFT_OK) {
        status = load(sequences, path, tokens, error);
    }
    (void)graft_context_enter(before);
    return status;
}
