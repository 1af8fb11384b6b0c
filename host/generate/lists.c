/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of the lists of a struct graft_generation. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "generate/fields.h"

struct graft_generation_fields {
    void **blocks; /* [n] */
    size_t n;
    size_t capacity;
};

struct graft_generation_fields *graft_generation_fields_create(void) {
    return graft_alloc(1, sizeof(struct graft_generation_fields));
}

void graft_generation_fields_free(struct graft_generation_fields *fields) {
    if (fields != NULL) {
        for (size_t i = 0; i < fields->n; i++) {
            graft_free(fields->blocks[i]);
        }
        graft_free(fields->blocks);
        graft_free(fields);
    }
}

void *graft_generation_fields_alloc(struct graft_generation_fields *owner, size_t count, size_t size) {
    if (graft_grow(&owner->blocks, &owner->capacity, owner->n, sizeof *owner->blocks) != 0) {
        return NULL;
    }
    void *block = graft_alloc(count > 0 ? count : 1, size);
    if (block != NULL) {
        owner->blocks[owner->n++] = block;
    }
    return block;
}

/* Replaces `*list`, of `n` elements, by a copy; returns 0, or -1 if memory ran out. */
static int own(struct graft_generation_fields *owner, void *list, size_t n, size_t size) {
    const void *from;
    memcpy(&from, list, sizeof from);
    void *copy = n > 0 ? graft_generation_fields_alloc(owner, n, size) : NULL;
    if (n == 0) {
        return 0;
    }
    if (copy == NULL) {
        return -1;
    }
    memcpy(copy, from, n * size);
    memcpy(list, &copy, sizeof copy);
    return 0;
}

static int own_ids(struct graft_generation_fields *owner, struct graft_id_list *list) {
    return own(owner, &list->ids, list->n, sizeof *list->ids);
}

static int own_words(struct graft_generation_fields *owner, struct graft_generation *generation) {
    const struct graft_id_list *from = generation->bad_words_ids;
    struct graft_id_list *words = graft_generation_fields_alloc(owner, generation->n_bad_words_ids, sizeof *words);
    int failed = words == NULL;
    for (size_t i = 0; i < generation->n_bad_words_ids && !failed; i++) {
        words[i] = from[i];
        failed = own_ids(owner, &words[i]) != 0;
    }
    generation->bad_words_ids = words;
    return failed ? -1 : 0;
}

static int own_biases(struct graft_generation_fields *owner, struct graft_generation *generation) {
    const struct graft_sequence_bias *from = generation->sequence_bias;
    struct graft_sequence_bias *biases =
        graft_generation_fields_alloc(owner, generation->n_sequence_bias, sizeof *biases);
    int failed = biases == NULL;
    for (size_t i = 0; i < generation->n_sequence_bias && !failed; i++) {
        biases[i] = from[i];
        failed = own(owner, &biases[i].ids, biases[i].n, sizeof *biases[i].ids) != 0;
    }
    generation->sequence_bias = biases;
    return failed ? -1 : 0;
}

static int own_texts(struct graft_generation_fields *owner, const char *const **list, size_t n) {
    const char *const *from = *list;
    const char **texts = graft_generation_fields_alloc(owner, n, sizeof *texts);
    int failed = texts == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        texts[i] = from[i];
        failed = own(owner, &texts[i], strlen(texts[i]) + 1, 1) != 0;
    }
    *list = texts;
    return failed ? -1 : 0;
}

static int own_processors(struct graft_generation_fields *owner, struct graft_generation *generation) {
    const struct graft_processor_choice *from = generation->processors;
    struct graft_processor_choice *choices =
        graft_generation_fields_alloc(owner, generation->n_processors, sizeof *from);
    int failed = choices == NULL;
    for (size_t i = 0; i < generation->n_processors && !failed; i++) {
        choices[i] = from[i];
        failed = (from[i].name != NULL && own(owner, &choices[i].name, strlen(from[i].name) + 1, 1) != 0) ||
                 (from[i].setting != NULL && own(owner, &choices[i].setting, strlen(from[i].setting) + 1, 1) != 0);
    }
    generation->processors = choices;
    return failed ? -1 : 0;
}

int graft_generation_own(struct graft_generation *generation, struct graft_generation_fields *owner,
                         struct graft_error *error) {
    struct graft_id_list *const lists[] = {&generation->suppress_tokens, &generation->begin_suppress_tokens,
                                           &generation->forced_bos_token_id, &generation->forced_eos_token_id};
    int failed = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        failed = failed || own_ids(owner, lists[i]) != 0;
    }
    failed = failed || own_words(owner, generation) != 0 || own_biases(owner, generation) != 0 ||
             own_processors(owner, generation) != 0 ||
             own_texts(owner, &generation->stop_strings, generation->n_stop_strings) != 0 ||
             own_texts(owner, &generation->logits_processors, generation->n_logits_processors) != 0;
    return failed ? graft_fail_memory(error, "generation") : GRAFT_OK;
}
