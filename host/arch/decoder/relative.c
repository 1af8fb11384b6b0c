/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/relative.h"

#include <math.h>
#include <stdio.h>

#include "arch/decoder/choices.h"
#include "graft/embedding.h"

enum { MAX_NAME = 256 };

void graft_relative_outline(struct graft_outline *of, struct graft_relative *self, int64_t heads) {
    struct graft_reader *reader = &of->reader;
    const int32_t kind = graft_read_word(reader, D_RELATIVE_OF);
    if (kind <= D_RELATIVE_NONE || (heads == 0) != (kind == D_RELATIVE_MODEL)) {
        return;
    }
    self->heads = heads > 0 ? heads : graft_read_int(reader, D_HEADS);
    self->buckets = graft_read_int(reader, D_RELATIVE_BUCKETS);
    self->distance = graft_read_int(reader, D_RELATIVE_DISTANCE);
    if (self->buckets % 4 != 0) {
        graft_reader_fail(reader, D_RELATIVE_BUCKETS, "expected a multiple of 4, got %lld", (long long)self->buckets);
    }
    if (self->distance <= self->buckets / 2) {
        graft_reader_fail(reader, D_RELATIVE_DISTANCE, "%lld is too small for %lld buckets", (long long)self->distance,
                          (long long)self->buckets);
    }
    graft_outline_embedding(of, &self->table, graft_outline_name(of, D_RELATIVE_NAME), self->buckets, self->heads);
}

int graft_relative_tie(const struct graft_description *description, int64_t n_layers, const struct graft_sink *sink,
                       struct graft_error *error) {
    const char *layers = graft_description_name(description, D_MODEL_LAYERS);
    const char *attention = graft_description_name(description, D_LAYER_ATTENTION);
    const char *name = graft_description_name(description, D_RELATIVE_NAME);
    char first[MAX_NAME], own[MAX_NAME];
    int status = GRAFT_OK;
    if (graft_description_word(description, D_RELATIVE_OF) != D_RELATIVE_FIRST) {
        return GRAFT_OK;
    }
    (void)snprintf(first, sizeof first, "%s.0.%s.%s.weight", layers, attention, name);
    for (int64_t i = 1; i < n_layers && status == GRAFT_OK; i++) {
        (void)snprintf(own, sizeof own, "%s.%lld.%s.%s.weight", layers, (long long)i, attention, name);
        status = sink->tie(sink->data, own, first, error);
    }
    return status;
}

/* The bucket of a key at `distance` after the query. If attention is bidirectional, half of the buckets are for keys
 * after the query. Of the rest, the first half is for single distances, the second half for ranges of growing size. */
static int32_t bucket_of(const struct graft_relative *relative, int bidirectional, int64_t distance) {
    const int64_t buckets = bidirectional ? relative->buckets / 2 : relative->buckets;
    const int64_t first = bidirectional && distance > 0 ? buckets : 0;
    const int64_t away = bidirectional && distance > 0 ? distance : distance < 0 ? -distance : 0;
    const int64_t single = buckets / 2;
    if (away < single) {
        return (int32_t)(first + away);
    }
    const float range = logf((float)away / (float)single) / (float)log((double)relative->distance / (double)single);
    const int64_t bucket = single + (int64_t)(range * (float)(buckets - single));
    return (int32_t)(first + (bucket < buckets ? bucket : buckets - 1));
}

void graft_relative_fill(const struct graft_relative *self, const struct graft_pass *pass, struct graft_mask *mask) {
    const int64_t reach = self->distance, width = 2 * reach + 1, heads = self->heads;
    const struct graft_pass distances = {pass->call, width, pass->error};
    const int bidirectional = mask->kind == GRAFT_MASK_NONE || mask->kind == GRAFT_MASK_WINDOW;
    int32_t *ids = graft_scratch_ints(pass->call, width, pass->error);
    float *rows = graft_pass_floats(&distances, heads), *biases = graft_pass_floats(&distances, heads);
    for (int64_t i = 0; graft_pass_ok(pass) && i < width; i++) {
        ids[i] = bucket_of(self, bidirectional, i - reach);
    }
    graft_pass_embed(&distances, self->table, ids, rows);
    for (int64_t i = 0; graft_pass_ok(pass) && i < width * heads; i++) {
        biases[i % heads * width + i / heads] = rows[i];
    }
    mask->relative = biases;
    mask->reach = reach;
}
