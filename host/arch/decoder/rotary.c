/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary angles of a decoder: one set for all layers, one for each of two types of layers, or one for each layer.
 */
#include "arch/decoder/rotary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct rotary {
    struct graft_instance base;
    const struct graft_rope_service *service;
    int32_t is_typed;
    int32_t is_reversed;
    struct graft_rope *ropes[GRAFT_ROTARY_KINDS]; /* NULL: no layer uses it */
    const struct graft_weight *table;             /* [positions, width]; NULL: the service computes angles */
};

struct kept {
    int32_t is_typed;
    int32_t is_reversed;
    struct graft_rotary_kind kinds[GRAFT_ROTARY_KINDS];
};

/* GRAFT_LAYER_... of the reader's layer. */
static int32_t type_of(struct graft_reader *reader) {
    const char *type = graft_read_text(reader, D_LAYER_TYPE);
    const int slides = type != NULL ? strcmp(type, "sliding_attention") == 0 : graft_read_int(reader, D_WINDOW) > 0;
    return slides ? GRAFT_LAYER_SLIDING_ATTENTION : GRAFT_LAYER_FULL_ATTENTION;
}

/* Reads the set of angles that the choices give the reader's layer. */
static void read_kind(struct graft_reader *reader, struct graft_rotary_kind *kind) {
    const char *object = graft_read_text(reader, D_ROTARY_OBJECT);
    const int64_t dim = graft_read_int(reader, D_ROTARY_DIM);
    (void)snprintf(kind->object, sizeof kind->object, "%s", object != NULL ? object : "");
    kind->is_used = 1;
    kind->info = (struct graft_rope_info){
        .struct_size = sizeof kind->info,
        .object = object != NULL ? kind->object : NULL,
        .head_dim = dim > 0 ? dim : graft_read_int(reader, D_HEAD_DIM),
        .max_position_embeddings = graft_read_int(reader, D_ROTARY_POSITIONS),
        .rope_theta = graft_read_real(reader, D_ROTARY_THETA),
        .partial_rotary_factor = graft_read_real(reader, D_ROTARY_PARTIAL),
        .mrope_section = {graft_read_int(reader, D_ROTARY_TIME), graft_read_int(reader, D_ROTARY_HEIGHT),
                          graft_read_int(reader, D_ROTARY_WIDTH)},
        .whole_heads = graft_read_bool(reader, D_ROTARY_WHOLE),
        .takes_alpha = graft_read_bool(reader, D_ROTARY_ALPHA),
        .takes_mscales = graft_read_bool(reader, D_ROTARY_MSCALES),
        .base = graft_read_real(reader, D_ROTARY_BASE),
        .interleaved_sections = graft_read_word(reader, D_ROTARY_AXES) == 1,
    };
    if (reader->status == GRAFT_OK && kind->info.head_dim % 2 != 0) {
        graft_reader_fail(reader, dim > 0 ? D_ROTARY_DIM : D_HEAD_DIM,
                          "expected an even number, because halves of a head are rotated, got %lld",
                          (long long)kind->info.head_dim);
    }
}

/* Checks that the rotation can be created, and finds its width. */
static void measure(struct graft_reader *reader, const struct graft_rope_service *service,
                    struct graft_rotary_kind *kind) {
    struct graft_rope *rope = NULL;
    const int status = service->create(reader->config, &kind->info, &rope, reader->error);
    if (status != GRAFT_OK) {
        reader->status = status;
        return;
    }
    kind->width = service->width(rope);
    service->destroy(rope);
    if (kind->info.whole_heads && kind->width != kind->info.head_dim) {
        char path[GRAFT_ROTARY_OBJECT + 32];
        (void)snprintf(path, sizeof path, "%s%spartial_rotary_factor", kind->object,
                       kind->object[0] != '\0' ? "." : "");
        reader->status = graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->config->file,
                                         "%s: %g is not supported, expected 1: this family rotates whole heads",
                                         graft_config_spelling(reader->config, path),
                                         (double)kind->width / (double)kind->info.head_dim);
    }
}

static int are_equal(const struct graft_rotary_kind *a, const struct graft_rotary_kind *b) {
    return strcmp(a->object, b->object) == 0 && (a->info.object == NULL) == (b->info.object == NULL) &&
           a->info.head_dim == b->info.head_dim && a->info.rope_theta == b->info.rope_theta &&
           a->info.base == b->info.base && a->info.partial_rotary_factor == b->info.partial_rotary_factor;
}

int32_t graft_rotary_find(struct graft_reader *reader, const struct graft_rotary_kind *kinds) {
    struct graft_rotary_kind own;
    if (graft_read_bool(reader, D_ROTARY_TYPED)) {
        return type_of(reader);
    }
    if (!graft_read_bool(reader, D_ROTARY_BY_LAYER) || !graft_read_bool(reader, D_ROTARY_USE)) {
        return 0;
    }
    read_kind(reader, &own);
    int32_t i = 0;
    while (i < GRAFT_ROTARY_KINDS - 1 && kinds[i].is_used && !are_equal(&kinds[i], &own)) {
        i++;
    }
    if (reader->status == GRAFT_OK && kinds[i].is_used && !are_equal(&kinds[i], &own)) {
        graft_reader_fail(reader, D_ROTARY_BASE, "expected layers with at most %d sets of angles",
                          (int)GRAFT_ROTARY_KINDS);
    }
    return i;
}

void graft_rotary_kinds(struct graft_reader *reader, const struct graft_host *host, struct graft_rotary_kind *kinds) {
    const struct graft_rope_service *service = graft_rope_service_of(host);
    const int64_t layers = graft_read_int(reader, D_LAYERS);
    memset(kinds, 0, GRAFT_ROTARY_KINDS * sizeof *kinds);
    for (int64_t i = 0; i < layers && reader->status == GRAFT_OK; i++) {
        reader->layer = i;
        struct graft_rotary_kind *kind = &kinds[graft_rotary_find(reader, kinds)];
        if (kind->is_used || !graft_read_bool(reader, D_ROTARY_USE) || graft_read_bool(reader, D_LAYER_MIXED)) {
            continue;
        }
        read_kind(reader, kind);
        if (reader->status == GRAFT_OK) {
            measure(reader, service, kind);
        }
    }
    reader->layer = -1;
}

/* Whether a set of angles rotates a sequence of more than `length` tokens differently from one of `length` tokens. */
static int changes_beyond(struct graft_reader *reader, const struct graft_rope_service *service,
                          const struct graft_rope_info *info, int64_t length) {
    struct graft_rope *rope = NULL;
    int changes = 0;
    reader->status = service->create(reader->config, info, &rope, reader->error);
    if (reader->status != GRAFT_OK) {
        return 0;
    }
    const size_t n = (size_t)service->width(rope) / 2;
    float *numbers = calloc(2 * n, sizeof *numbers);
    if (numbers == NULL) {
        reader->status = graft_fail_memory(reader->error, reader->config->file);
    } else {
        const float factor = service->frequencies(rope, length, numbers);
        changes = factor != service->frequencies(rope, length + 1, numbers + n) ||
                  memcmp(numbers, numbers + n, n * sizeof *numbers) != 0;
    }
    free(numbers);
    service->destroy(rope);
    return changes;
}

int graft_rotary_changes(struct graft_reader *reader, const struct graft_host *host, int64_t length) {
    struct graft_rotary_kind kinds[GRAFT_ROTARY_KINDS];
    int changes = 0;
    graft_rotary_kinds(reader, host, kinds);
    for (int32_t i = 0; i < GRAFT_ROTARY_KINDS && reader->status == GRAFT_OK && !changes; i++) {
        changes = kinds[i].is_used && changes_beyond(reader, graft_rope_service_of(host), &kinds[i].info, length);
    }
    return changes;
}

/* Declares the table of angles, which has a row for each position. */
static int describe_table(struct graft_reader *reader, const struct kept *kept, const struct graft_sink *sink,
                          struct graft_error *error) {
    const int64_t shape[] = {graft_read_int(reader, D_ROTARY_POSITIONS), kept->kinds[0].width};
    if (reader->status == GRAFT_OK && kept->is_typed) {
        graft_reader_fail(reader, D_ROTARY_TABLE, "expected false, since layers have angles of their own");
    }
    return reader->status == GRAFT_OK ? graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error)
                                      : reader->status;
}

int graft_decoder_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_reader reader;
    (void)args;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, -1, error);
    kept->is_typed = graft_read_bool(&reader, D_ROTARY_TYPED) || graft_read_bool(&reader, D_ROTARY_BY_LAYER);
    kept->is_reversed = graft_read_bool(&reader, D_ROTARY_REVERSED);
    graft_rotary_kinds(&reader, sink->host, kept->kinds);
    return graft_read_bool(&reader, D_ROTARY_TABLE) ? describe_table(&reader, kept, sink, error) : reader.status;
}

int graft_decoder_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                struct graft_error *error) {
    const struct kept *kept = build->kept;
    struct graft_reader reader;
    struct rotary *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, cls->data, build->config, -1, error);
    self->service = graft_rope_service_of(build->host);
    self->is_typed = kept->is_typed;
    self->is_reversed = kept->is_reversed;
    self->table = build->weight(build->data, "weight");
    for (int32_t i = 0; i < GRAFT_ROTARY_KINDS && reader.status == GRAFT_OK; i++) {
        if (kept->kinds[i].is_used) {
            reader.status = self->service->create(reader.config, &kept->kinds[i].info, &self->ropes[i], error);
        }
    }
    for (int32_t i = 0; i < GRAFT_ROTARY_KINDS && reader.status != GRAFT_OK; i++) {
        self->service->destroy(self->ropes[i]);
    }
    return graft_instance_finish(self, instance, error);
}

void graft_decoder_rotary_destroy(void *instance) {
    struct rotary *self = instance;
    for (int32_t i = 0; i < GRAFT_ROTARY_KINDS; i++) {
        self->service->destroy(self->ropes[i]);
    }
    graft_instance_destroy(self);
}

/* Looks angles up in the table; the root's max_positions keeps positions within it. Both halves of a row are equal. */
static int look_up(const struct rotary *self, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const int64_t tokens = args->batch->tokens, width = args->head_dim, half = width / 2;
    int32_t *ids = graft_scratch_ints(call, tokens, error);
    float *rows = graft_scratch_floats(call, tokens, width, error);
    if (ids == NULL || rows == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < tokens; t++) {
        ids[t] = (int32_t)args->batch->positions[t];
    }
    int status = call->kernels->embedding(call, self->table, ids, tokens, rows, error);
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        const float *row = rows + i / width * width;
        args->sin[i] = row[i % width % half];
        args->cos[i] = row[half + i % width % half];
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    const int32_t type = self->is_typed ? args->layer_type : GRAFT_LAYER_FULL_ATTENTION;
    if (type < 0 || type >= GRAFT_ROTARY_KINDS || self->ropes[type] == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "layer_type: no layer has type %d",
                               (int)type);
    }
    const int64_t width = self->service->width(self->ropes[type]);
    if (args->head_dim != width) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                               (long long)width, (long long)args->head_dim);
    }
    int status = self->table != NULL
                     ? look_up(self, call, args, error)
                     : self->service->angles(self->ropes[type], call, args->batch, args->cos, args->sin, error);
    for (int64_t i = 0; self->is_reversed && i < args->batch->tokens * width; i++) {
        args->sin[i] = -args->sin[i];
    }
    return status;
}

const struct graft_rotary graft_decoder_rotary_vtable = {
    .struct_size = sizeof graft_decoder_rotary_vtable,
    .features = GRAFT_ROTARY_LAYER_TYPES,
    .forward = forward,
};
