/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/distances.h"

#include <math.h>
#include <stdio.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"

enum { MAX_PATH = 512 };

void graft_distances_outline(struct graft_outline *of, struct graft_distances *self, const char *embeddings,
                             const char *norm, int64_t hidden_size) {
    struct graft_reader *reader = &of->reader;
    if (graft_outline_name(of, D_DISENTANGLED_NAME) == NULL || !graft_read_bool(reader, D_DISENTANGLED_USE)) {
        return;
    }
    self->reach = graft_read_int(reader, D_DISENTANGLED_REACH);
    self->buckets = graft_read_int(reader, D_DISENTANGLED_BUCKETS);
    self->rows = 2 * (self->buckets > 0 ? self->buckets : self->reach);
    self->has_norm =
        graft_outline_name(of, D_DISENTANGLED_NORM) != NULL && graft_read_bool(reader, D_DISENTANGLED_NORMED);
    graft_outline_embedding(of, &self->embeddings, embeddings, self->rows, hidden_size);
    graft_outline_norm(of, &self->norm, self->has_norm ? norm : NULL, "LayerNorm", hidden_size,
                       graft_read_real(reader, D_NORM_EPS));
}

static void tie(const char *path, const char *child, const char *parameter, const char *source,
                const struct graft_sink *sink, struct graft_error *error) {
    char from[MAX_PATH], to[MAX_PATH];
    (void)snprintf(from, sizeof from, "%s.%s.%s", path, child, parameter);
    (void)snprintf(to, sizeof to, "%s.%s", source, parameter);
    if (error->code == GRAFT_OK) {
        sink->tie(sink->data, from, to, error);
    }
}

void graft_distances_tie(const struct graft_description *description, const struct graft_distances *self,
                         const char *path, const struct graft_sink *sink, struct graft_error *error) {
    const char *norm = graft_description_name(description, D_DISENTANGLED_NORM);
    tie(path, GRAFT_DISTANCES, "weight", graft_description_name(description, D_DISENTANGLED_NAME), sink, error);
    if (self->has_norm) {
        tie(path, GRAFT_DISTANCES_NORM, "weight", norm, sink, error);
        tie(path, GRAFT_DISTANCES_NORM, "bias", norm, sink, error);
    }
}

/* The bucket of a distance. Distances up to half of `buckets` have a bucket each; larger ones share buckets whose width
 * grows with the distance. */
static int64_t bucket_of(const struct graft_distances *self, int64_t distance) {
    const int64_t half = self->buckets / 2;
    const int64_t far = distance < 0 ? -distance : distance;
    if (far <= half) {
        return distance;
    }
    const float steps = logf((float)far / (float)half) / logf((float)(self->reach - 1) / (float)half);
    const int64_t bucket = (int64_t)ceilf(steps * (float)(half - 1)) + half;
    return distance < 0 ? -bucket : bucket;
}

int64_t graft_distances_row(const struct graft_distances *self, int64_t distance) {
    const int64_t row = (self->buckets > 0 ? bucket_of(self, distance) : distance) + self->rows / 2;
    return row < 0 ? 0 : row >= self->rows ? self->rows - 1 : row;
}

float *graft_distances_find(const struct graft_distances *self, const struct graft_pass *pass, int64_t hidden_size) {
    const struct graft_pass rows = {pass->call, self->rows, pass->error};
    float *x = graft_pass_table(&rows, self->embeddings, hidden_size);
    return graft_pass_normed(&rows, self->norm, x, hidden_size);
}
