/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/template.h"

#include "base/alloc.h"

static void add_typed(const struct graft_ids *from, int32_t type_id, struct graft_ids *ids, struct graft_ids *types) {
    graft_ids_append(ids, from->ids, from->n);
    for (size_t i = 0; types != NULL && i < from->n; i++) {
        graft_ids_add(types, type_id);
    }
}

void graft_template_apply(const struct graft_template *processor, const struct graft_ids *first,
                          const struct graft_ids *second, int add_special_tokens, struct graft_ids *ids,
                          struct graft_ids *types) {
    const struct graft_template_parts *parts = second == NULL ? &processor->single : &processor->pair;
    if (!processor->given) {
        add_typed(first, 0, ids, types);
        if (second != NULL) {
            add_typed(second, 1, ids, types);
        }
        return;
    }
    for (size_t i = 0; i < parts->n; i++) {
        const struct graft_template_part *part = &parts->items[i];
        if (part->kind == GRAFT_PART_FIRST) {
            add_typed(first, part->type_id, ids, types);
        } else if (part->kind == GRAFT_PART_SECOND && second != NULL) {
            add_typed(second, part->type_id, ids, types);
        } else if (part->kind == GRAFT_PART_SPECIAL && add_special_tokens) {
            add_typed(&part->ids, part->type_id, ids, types);
        }
    }
}

static int32_t unknown_of(const struct graft_template_parts *parts, int (*has)(const void *data, int32_t id),
                          const void *data) {
    for (size_t i = 0; i < parts->n; i++) {
        for (size_t k = 0; k < parts->items[i].ids.n; k++) {
            if (!has(data, parts->items[i].ids.ids[k])) {
                return parts->items[i].ids.ids[k];
            }
        }
    }
    return -1;
}

int32_t graft_template_unknown(const struct graft_template *processor, int (*has)(const void *data, int32_t id),
                               const void *data) {
    int32_t id = unknown_of(&processor->single, has, data);
    return id >= 0 ? id : unknown_of(&processor->pair, has, data);
}

static void free_parts(struct graft_template_parts *parts) {
    for (size_t i = 0; i < parts->n; i++) {
        graft_ids_free(&parts->items[i].ids);
    }
    graft_free(parts->items);
}

void graft_template_finish(struct graft_template *processor) {
    free_parts(&processor->single);
    free_parts(&processor->pair);
    *processor = (struct graft_template){0};
}
