/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of token ids. All functions are [any]. */
#ifndef GRAFT_TOKENIZER_IDS_H
#define GRAFT_TOKENIZER_IDS_H

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. After a failed allocation `failed` is set and later calls do nothing, so that one check at the end is
 * enough. */
struct graft_ids {
    int32_t *ids; /* [n] */
    size_t n;
    size_t capacity;
    int failed;
};

void graft_ids_add(struct graft_ids *list, int32_t id);
void graft_ids_append(struct graft_ids *list, const int32_t *ids, size_t n);
void graft_ids_free(struct graft_ids *list);

#endif
