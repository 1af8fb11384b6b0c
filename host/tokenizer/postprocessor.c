/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/postprocessor.h"

#include "base/alloc.h"
#include "base/fail.h"

/* A text with the type of each of its ids. */
struct encoding {
    struct graft_ids ids;
    struct graft_ids types;
};

struct encodings {
    struct encoding *items; /* [n] */
    size_t n;
    size_t capacity;
    int failed;
};

static void free_encodings(struct encodings *list) {
    for (size_t i = 0; i < list->n; i++) {
        graft_ids_free(&list->items[i].ids);
        graft_ids_free(&list->items[i].types);
    }
    graft_free(list->items);
    *list = (struct encodings){0};
}

/* Appends an empty text; returns NULL if memory ran out. */
static struct encoding *add_encoding(struct encodings *list) {
    if (graft_grow(&list->items, &list->capacity, list->n, sizeof *list->items) != 0) {
        list->failed = 1;
        return NULL;
    }
    list->items[list->n] = (struct encoding){0};
    return &list->items[list->n++];
}

static void add_id(struct encoding *encoding, int32_t id, int32_t type) {
    graft_ids_add(&encoding->ids, id);
    graft_ids_add(&encoding->types, type);
}

static void add_typed(struct encodings *list, const struct graft_ids *ids, int32_t type) {
    struct encoding *encoding = add_encoding(list);
    if (encoding != NULL) {
        graft_ids_append(&encoding->ids, ids->ids, ids->n);
        for (size_t i = 0; i < ids->n; i++) {
            graft_ids_add(&encoding->types, type);
        }
    }
}

static int check_places(const struct graft_postprocessor *self, size_t n, const char *file, struct graft_error *error) {
    if (n != 1 && n != 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "%s: the processor before this template makes %zu texts, expected 1 or 2", self->field,
                               n);
    }
    if (n == 2 && self->template.refuses_pairs) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "%s.pair: a text of the pair has no place in the template", self->field);
    }
    return GRAFT_OK;
}

static int apply_template(const struct graft_postprocessor *self, const struct encodings *from, int add_special_tokens,
                          const char *file, struct encodings *to, struct graft_error *error) {
    const struct graft_template_parts *parts = from->n == 2 ? &self->template.pair : &self->template.single;
    int status = check_places(self, from->n, file, error);
    for (size_t i = 0; status == GRAFT_OK && i < parts->n; i++) {
        const struct graft_template_part *part = &parts->items[i];
        if (part->kind != GRAFT_PART_SPECIAL) {
            add_typed(to, &from->items[part->kind == GRAFT_PART_SECOND].ids, part->type_id);
        } else if (add_special_tokens) {
            add_typed(to, &part->ids, part->type_id);
        }
    }
    return status;
}

static void apply_fixed(const struct graft_postprocessor *self, const struct encodings *from, int add_special_tokens,
                        struct encodings *to) {
    int is_roberta = self->kind == GRAFT_POSTPROCESSOR_ROBERTA;
    for (size_t i = 0; i < from->n; i++) {
        struct encoding *encoding = add_encoding(to);
        if (encoding == NULL) {
            return;
        }
        if (add_special_tokens && (i == 0 || is_roberta)) {
            add_id(encoding, i == 0 ? self->cls : self->sep, 0);
        }
        for (size_t k = 0; k < from->items[i].ids.n; k++) {
            add_id(encoding, from->items[i].ids.ids[k], is_roberta ? 0 : from->items[i].types.ids[k]);
        }
        if (add_special_tokens) {
            add_id(encoding, self->sep, i > 0 && !is_roberta);
        }
    }
}

static int has_failed(const struct encodings *list) {
    int failed = list->failed;
    for (size_t i = 0; i < list->n; i++) {
        failed |= list->items[i].ids.failed | list->items[i].types.failed;
    }
    return failed;
}

int graft_postprocessor_run(const struct graft_postprocessor *chain, const struct graft_ids *first,
                            const struct graft_ids *second, int add_special_tokens, const char *file,
                            struct graft_ids *ids, struct graft_ids *types, struct graft_error *error) {
    struct encodings list = {0};
    int status = GRAFT_OK;
    add_typed(&list, first, 0);
    if (second != NULL) {
        add_typed(&list, second, 1);
    }
    for (; status == GRAFT_OK && !has_failed(&list) && chain != NULL; chain = chain->next) {
        struct encodings next = {0};
        if (chain->kind == GRAFT_POSTPROCESSOR_TEMPLATE) {
            status = apply_template(chain, &list, add_special_tokens, file, &next, error);
        } else {
            apply_fixed(chain, &list, add_special_tokens, &next);
        }
        free_encodings(&list);
        list = next;
    }
    for (size_t i = 0; status == GRAFT_OK && i < list.n; i++) {
        graft_ids_append(ids, list.items[i].ids.ids, list.items[i].ids.n);
        if (types != NULL) {
            graft_ids_append(types, list.items[i].types.ids, list.items[i].types.n);
        }
    }
    if (status == GRAFT_OK && (has_failed(&list) || ids->failed || (types != NULL && types->failed))) {
        status = graft_fail_memory(error, file);
    }
    free_encodings(&list);
    return status;
}

int32_t graft_postprocessor_unknown(const struct graft_postprocessor *chain, int (*has)(const void *data, int32_t id),
                                    const void *data) {
    for (; chain != NULL; chain = chain->next) {
        int32_t id = graft_template_unknown(&chain->template, has, data);
        if (id < 0 && chain->kind != GRAFT_POSTPROCESSOR_TEMPLATE) {
            id = !has(data, chain->cls) ? chain->cls : !has(data, chain->sep) ? chain->sep : -1;
        }
        if (id >= 0) {
            return id;
        }
    }
    return -1;
}

void graft_postprocessor_destroy(struct graft_postprocessor *chain) {
    while (chain != NULL) {
        struct graft_postprocessor *next = chain->next;
        graft_template_finish(&chain->template);
        graft_free(chain->field);
        graft_free(chain);
        chain = next;
    }
}
