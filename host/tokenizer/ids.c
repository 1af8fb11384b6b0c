/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/host/tokenizer.h"

#include "base/alloc.h"

void graft_ids_add(struct graft_ids *list, int32_t id) {
    if (list->failed || graft_grow(&list->ids, &list->capacity, list->n, sizeof *list->ids) != 0) {
        list->failed = 1;
        return;
    }
    list->ids[list->n++] = id;
}

void graft_ids_append(struct graft_ids *list, const int32_t *ids, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_ids_add(list, ids[i]);
    }
}

void graft_ids_free(struct graft_ids *list) {
    graft_free(list->ids);
    *list = (struct graft_ids){0};
}
