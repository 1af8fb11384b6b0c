/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields: the member that each is read into, and the values it may have, as in the reference. */
#include "generate/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

enum { MAX_PATH = 96, DEFAULT_NEW_TOKENS = 128, DEFAULT_TOP_K = 50 };

struct graft_generation graft_generation_default(void) {
    return (struct graft_generation){
        .struct_size = sizeof(struct graft_generation),
        .max_new_tokens = DEFAULT_NEW_TOKENS,
        .temperature = 1.0,
        .top_k = DEFAULT_TOP_K,
        .top_p = 1.0,
        .repetition_penalty = 1.0,
        .length_penalty = 1.0,
    };
}

/* The document that fields are read from, and the owner of lists. */
struct source {
    const struct graft_config *document;
    struct graft_generation_fields *owner;
    struct graft_error *error;
};

static int out_of_range(const struct source *from, const char *name, const char *expected, double value) {
    return graft_error_set(from->error, GRAFT_ERROR_MODEL, from->document->file, "%s: expected %s, got %g", name,
                           expected, value);
}

/* --- Numbers --- */

static int read_number(const struct source *from, const char *name, double *value) {
    return graft_config_real(from->document, name, -INFINITY, value, from->error);
}

static int read_positive(const struct source *from, const char *name, void *member) {
    double value = 1.0;
    int status = read_number(from, name, &value);
    if (status == GRAFT_OK && !(value > 0.0 && value <= 1e6)) {
        return out_of_range(from, name, "more than 0 and at most 1e+06", value);
    }
    *(double *)member = value;
    return status;
}

/* Reads a number greater than 0 and at most 1. */
static int read_part(const struct source *from, const char *name, void *member) {
    double value = 1.0;
    int status = read_number(from, name, &value);
    if (status == GRAFT_OK && !(value > 0.0 && value <= 1.0)) {
        return out_of_range(from, name, "more than 0 and at most 1", value);
    }
    *(double *)member = value;
    return status;
}

/* Reads typical_p. In the reference 1 or more means "off". */
static int read_typical(const struct source *from, const char *name, void *member) {
    double value = 1.0;
    int status = read_number(from, name, &value);
    if (status == GRAFT_OK && !(value > 0.0)) {
        return out_of_range(from, name, "more than 0", value);
    }
    *(double *)member = value < 1.0 ? value : 0.0;
    return status;
}

static int read_min_p(const struct source *from, const char *name, void *member) {
    double value = 0.0;
    int status = read_number(from, name, &value);
    if (status == GRAFT_OK && !(value >= 0.0 && value <= 1.0)) {
        return out_of_range(from, name, "0 to 1", value);
    }
    *(double *)member = value;
    return status;
}

/* Reads a cutoff. In the reference a number that is not between 0 and 1 means "off". */
static int read_cutoff(const struct source *from, const char *name, void *member) {
    double value = 0.0;
    int status = read_number(from, name, &value);
    *(double *)member = value > 0.0 && value < 1.0 ? value : 0.0;
    return status;
}

static int read_real(const struct source *from, const char *name, void *member) {
    return read_number(from, name, member);
}

/* Reads guidance_scale. 0 would use only the logits without the prompt, and is refused. */
static int read_guidance(const struct source *from, const char *name, void *member) {
    double value = 1.0;
    int status = read_number(from, name, &value);
    if (status == GRAFT_OK && value == 0.0) {
        return out_of_range(from, name, "another number, as with this one the prompt has no effect", value);
    }
    *(double *)member = value;
    return status;
}

static int read_count(const struct source *from, const char *name, void *member) {
    return graft_config_int(from->document, name, 0, INT64_MAX, member, from->error);
}

/* Reads a count. In the reference a number below 1 means "off". */
static int read_if_positive(const struct source *from, const char *name, void *member) {
    int64_t value = 0;
    int status = graft_config_int(from->document, name, INT64_MIN, INT64_MAX, &value, from->error);
    *(int64_t *)member = value > 0 ? value : 0;
    return status;
}

static int read_from_one(const struct source *from, const char *name, void *member) {
    return graft_config_int(from->document, name, 1, INT32_MAX, member, from->error);
}

static int read_flag(const struct source *from, const char *name, void *member) {
    return graft_config_bool(from->document, name, member, from->error);
}

static int read_guesses(const struct source *from, const char *name, void *member) {
    int64_t value = 0;
    int status = graft_config_int(from->document, name, 0, INT32_MAX, &value, from->error);
    *(int32_t *)member = (int32_t)value;
    return status;
}

static int read_early_stopping(const struct source *from, const char *name, void *member) {
    const struct graft_config *document = from->document;
    const char *word = document->string(document->data, name);
    int32_t value = 0;
    if (word != NULL && strcmp(word, "never") == 0) {
        *(int32_t *)member = GRAFT_EARLY_STOPPING_NEVER;
        return GRAFT_OK;
    }
    if (document->kind(document->data, name) != GRAFT_FIELD_BOOL) {
        return graft_config_expected(document, name, "a boolean or \"never\"", from->error);
    }
    int status = graft_config_bool(document, name, &value, from->error);
    *(int32_t *)member = value ? GRAFT_EARLY_STOPPING_TRUE : GRAFT_EARLY_STOPPING_FALSE;
    return status;
}

/* --- Lists --- */

static const char *path_to(char path[MAX_PATH], const char *name, int64_t i) {
    (void)snprintf(path, MAX_PATH, "%.60s.%lld", name, (long long)i);
    return path;
}

/* Checks that a field is an array. */
static int expect_array(const struct source *from, const char *name, const char *expected) {
    return from->document->kind(from->document->data, name) == GRAFT_FIELD_ARRAY
               ? GRAFT_OK
               : graft_config_expected(from->document, name, expected, from->error);
}

static int read_id(const struct source *from, const char *path, int64_t minimum, int32_t *id) {
    const struct graft_config *document = from->document;
    int64_t value = document->integer(document->data, path);
    if (document->kind(document->data, path) != GRAFT_FIELD_INT) {
        return graft_config_expected(document, path, "the id of a token, an integer", from->error);
    }
    if (value < minimum || value > INT32_MAX) {
        return graft_error_set(from->error, GRAFT_ERROR_MODEL, document->file,
                               "%s: expected the id of a token, 0 to %ld, got %lld", path, (long)INT32_MAX,
                               (long long)value);
    }
    *id = (int32_t)value;
    return GRAFT_OK;
}

/* Reads a list of ids of at least `minimum`. Negative ids are dropped: no token has one, so they have no effect. */
static int read_list(const struct source *from, const char *name, int64_t minimum, struct graft_id_list *list) {
    char path[MAX_PATH];
    int status = expect_array(from, name, "an array of token ids");
    int64_t n = from->document->size(from->document->data, name);
    int32_t *ids = status == GRAFT_OK ? graft_generation_fields_alloc(from->owner, (size_t)n, sizeof *ids) : NULL;
    if (status == GRAFT_OK && ids == NULL) {
        return graft_fail_memory(from->error, from->document->file);
    }
    *list = (struct graft_id_list){ids, 0};
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = read_id(from, path_to(path, name, i), minimum, &ids[list->n]);
        list->n += status == GRAFT_OK && ids[list->n] >= 0;
    }
    return status;
}

static int read_array(const struct source *from, const char *name, struct graft_id_list *list) {
    return read_list(from, name, 0, list);
}

/* Reads ids that are compared with tokens. */
static int read_ids(const struct source *from, const char *name, void *member) {
    return read_list(from, name, INT64_MIN, member);
}

static int read_one(const struct source *from, const char *name, int64_t minimum, struct graft_id_list *list) {
    int32_t *id = graft_generation_fields_alloc(from->owner, 1, sizeof *id);
    if (id == NULL) {
        return graft_fail_memory(from->error, from->document->file);
    }
    int status = read_id(from, name, minimum, id);
    *list = (struct graft_id_list){id, status == GRAFT_OK && *id >= 0};
    return status;
}

/* Reads an id or an array of ids. */
static int read_id_or_ids(const struct source *from, const char *name, void *member) {
    return from->document->kind(from->document->data, name) == GRAFT_FIELD_ARRAY ? read_array(from, name, member)
                                                                                 : read_one(from, name, 0, member);
}

static int read_one_id(const struct source *from, const char *name, void *member) {
    return from->document->kind(from->document->data, name) == GRAFT_FIELD_ARRAY
               ? graft_config_expected(from->document, name, "the id of a token", from->error)
               : read_id_or_ids(from, name, member);
}

int graft_generation_read_ids(const struct graft_config *document, const char *name, struct graft_id_list *list,
                              struct graft_generation_fields *owner, struct graft_error *error) {
    const struct source from = {document, owner, error};
    if (!graft_config_has(document, name)) {
        return GRAFT_OK;
    }
    return document->kind(document->data, name) == GRAFT_FIELD_ARRAY ? read_ids(&from, name, list)
                                                                     : read_one(&from, name, INT64_MIN, list);
}

/* Reads the ids of a sequence, which must not be empty. */
static int read_sequence(const struct source *from, const char *path, struct graft_id_list *list) {
    int status = read_array(from, path, list);
    return status == GRAFT_OK && list->n == 0 ? graft_error_set(from->error, GRAFT_ERROR_MODEL, from->document->file,
                                                                "%s: expected token ids, got []", path)
                                              : status;
}

static int read_words(const struct source *from, const char *name, void *member) {
    struct graft_generation *generation = member;
    char path[MAX_PATH];
    int status = expect_array(from, name, "an array of arrays of token ids");
    int64_t n = from->document->size(from->document->data, name);
    struct graft_id_list *words = graft_generation_fields_alloc(from->owner, (size_t)n, sizeof *words);
    if (words == NULL) {
        return graft_fail_memory(from->error, from->document->file);
    }
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = read_sequence(from, path_to(path, name, i), &words[i]);
    }
    generation->bad_words_ids = words;
    generation->n_bad_words_ids = (size_t)n;
    return status;
}

/* Reads [[id, ...], bias]. */
static int read_bias(const struct source *from, const char *pair, struct graft_sequence_bias *bias) {
    char path[MAX_PATH];
    struct graft_id_list ids = {0};
    int status = expect_array(from, pair, "a pair of token ids and a number");
    if (status == GRAFT_OK && from->document->size(from->document->data, pair) != 2) {
        return graft_error_set(from->error, GRAFT_ERROR_MODEL, from->document->file,
                               "%s: expected a pair of token ids and a number, got %lld elements", pair,
                               (long long)from->document->size(from->document->data, pair));
    }
    if (status == GRAFT_OK) {
        status = read_sequence(from, path_to(path, pair, 0), &ids);
    }
    if (status == GRAFT_OK && !graft_config_has(from->document, path_to(path, pair, 1))) {
        return graft_config_expected(from->document, path, "a number", from->error);
    }
    bias->ids = ids.ids;
    bias->n = ids.n;
    return status == GRAFT_OK ? read_number(from, path, &bias->bias) : status;
}

static int read_biases(const struct source *from, const char *name, void *member) {
    struct graft_generation *generation = member;
    char path[MAX_PATH];
    int status = expect_array(from, name, "an array of pairs of token ids and a number");
    int64_t n = from->document->size(from->document->data, name);
    struct graft_sequence_bias *biases = graft_generation_fields_alloc(from->owner, (size_t)n, sizeof *biases);
    if (biases == NULL) {
        return graft_fail_memory(from->error, from->document->file);
    }
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = read_bias(from, path_to(path, name, i), &biases[i]);
    }
    generation->sequence_bias = biases;
    generation->n_sequence_bias = (size_t)n;
    return status;
}

/* [start, factor] */
static int read_decay(const struct source *from, const char *name, void *member) {
    struct graft_generation *generation = member;
    char path[MAX_PATH];
    int status = expect_array(from, name, "an array of a number of tokens and a factor");
    int is_pair = from->document->size(from->document->data, name) == 2;
    if (status == GRAFT_OK && (!is_pair || !graft_config_has(from->document, path_to(path, name, 0)) ||
                               !graft_config_has(from->document, path_to(path, name, 1)))) {
        return graft_error_set(from->error, GRAFT_ERROR_MODEL, from->document->file,
                               "%s: expected a number of tokens and a factor", name);
    }
    if (status == GRAFT_OK) {
        status = graft_config_int(from->document, path_to(path, name, 0), 0, INT32_MAX,
                                  &generation->exponential_decay_start, from->error);
    }
    return status == GRAFT_OK ? read_positive(from, path_to(path, name, 1), &generation->exponential_decay_factor)
                              : status;
}

static int read_text(const struct source *from, const char *path, const char **copy) {
    const char *text = from->document->string(from->document->data, path);
    if (text == NULL || text[0] == '\0') {
        return text == NULL ? graft_config_expected(from->document, path, "a string", from->error)
                            : graft_error_set(from->error, GRAFT_ERROR_MODEL, from->document->file,
                                              "%s: expected a string that is not empty", path);
    }
    char *own = graft_generation_fields_alloc(from->owner, strlen(text) + 1, 1);
    if (own == NULL) {
        return graft_fail_memory(from->error, from->document->file);
    }
    *copy = strcpy(own, text);
    return GRAFT_OK;
}

/* Reads a string or an array of strings. */
static int read_stop_strings(const struct source *from, const char *name, void *member) {
    struct graft_generation *generation = member;
    char path[MAX_PATH];
    int is_array = from->document->kind(from->document->data, name) == GRAFT_FIELD_ARRAY;
    int64_t n = is_array ? from->document->size(from->document->data, name) : 1;
    const char **texts = graft_generation_fields_alloc(from->owner, (size_t)n, sizeof *texts);
    int status = texts != NULL ? GRAFT_OK : graft_fail_memory(from->error, from->document->file);
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = read_text(from, is_array ? path_to(path, name, i) : name, &texts[i]);
    }
    generation->stop_strings = texts;
    generation->n_stop_strings = (size_t)n;
    return status;
}

/* --- The fields --- */

typedef int read_function(const struct source *from, const char *name, void *member);

struct field {
    const char *name;
    size_t offset; /* of the member; 0, the struct, for a field that sets several */
    read_function *read;
    int only_samples; /* without do_sample the reference ignores the field, even if it is invalid */
};

#define AT(member) offsetof(struct graft_generation, member)

static const struct field fields[] = {
    {"do_sample", AT(do_sample), read_flag, 0},
    {"max_new_tokens", AT(max_new_tokens), read_count, 0},
    {"max_length", AT(max_length), read_from_one, 0},
    {"min_length", AT(min_length), read_if_positive, 0},
    {"min_new_tokens", AT(min_new_tokens), read_if_positive, 0},
    {"stop_strings", 0, read_stop_strings, 0},
    {"sequence_bias", 0, read_biases, 0},
    {"encoder_repetition_penalty", AT(encoder_repetition_penalty), read_positive, 0},
    {"repetition_penalty", AT(repetition_penalty), read_positive, 0},
    {"no_repeat_ngram_size", AT(no_repeat_ngram_size), read_if_positive, 0},
    {"encoder_no_repeat_ngram_size", AT(encoder_no_repeat_ngram_size), read_if_positive, 0},
    {"bad_words_ids", 0, read_words, 0},
    {"forced_bos_token_id", AT(forced_bos_token_id), read_one_id, 0},
    {"forced_eos_token_id", AT(forced_eos_token_id), read_id_or_ids, 0},
    {"remove_invalid_values", AT(remove_invalid_values), read_flag, 0},
    {"exponential_decay_length_penalty", 0, read_decay, 0},
    {"suppress_tokens", AT(suppress_tokens), read_ids, 0},
    {"begin_suppress_tokens", AT(begin_suppress_tokens), read_ids, 0},
    {"temperature", AT(temperature), read_positive, 1},
    {"top_h", AT(top_h), read_part, 1},
    {"top_k", AT(top_k), read_count, 1},
    {"top_p", AT(top_p), read_part, 1},
    {"min_p", AT(min_p), read_min_p, 1},
    {"typical_p", AT(typical_p), read_typical, 1},
    {"epsilon_cutoff", AT(epsilon_cutoff), read_cutoff, 1},
    {"eta_cutoff", AT(eta_cutoff), read_cutoff, 1},
    {"renormalize_logits", AT(renormalize_logits), read_flag, 0},
    {"num_beams", AT(num_beams), read_from_one, 0},
    {"length_penalty", AT(length_penalty), read_real, 0},
    {"early_stopping", AT(early_stopping), read_early_stopping, 0},
    {"num_return_sequences", AT(num_return_sequences), read_from_one, 0},
    {"guidance_scale", AT(guidance_scale), read_guidance, 0},
    {"prompt_lookup_num_tokens", AT(speculate), read_guesses, 0},
};

/* Resolves two fields for the same length: one takes precedence over the other, as in the reference, and a new one
 * replaces an earlier one of the other kind. */
static void resolve_lengths(const struct graft_config *document, struct graft_generation *generation) {
    if (graft_config_has(document, "max_new_tokens")) {
        generation->max_length = 0;
    } else if (graft_config_has(document, "max_length")) {
        generation->max_new_tokens = -1;
    }
    if (graft_config_has(document, "min_new_tokens")) {
        generation->min_length = 0;
    } else if (graft_config_has(document, "min_length")) {
        generation->min_new_tokens = 0;
    }
}

static void forgive(struct graft_error *error) {
    if (error != NULL) {
        *error = graft_error_none();
    }
}

int graft_generation_read_fields(const struct graft_config *document, struct graft_generation *generation,
                                 struct graft_generation_fields *owner, struct graft_error *error) {
    const struct source from = {document, owner, error};
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        const struct field *field = &fields[i];
        if (!graft_config_has(document, field->name)) {
            continue;
        }
        struct graft_generation read = *generation;
        status = field->read(&from, field->name, (char *)&read + field->offset);
        if (status == GRAFT_OK) {
            *generation = read;
        } else if (field->only_samples && !generation->do_sample && status == GRAFT_ERROR_MODEL) {
            forgive(error);
            status = GRAFT_OK;
        }
    }
    if (status == GRAFT_OK) {
        resolve_lengths(document, generation);
        status = graft_generation_refuse_fields(document, generation, error);
    }
    return status;
}
