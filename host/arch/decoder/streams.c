/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/streams.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"

enum { MAX_NAME = 256 };

/* --- The model's part --- */

static const int32_t lists[] = {D_STREAMS_IN, D_STREAMS_OUT};

static void name_projection(const struct graft_description *description, int32_t list, int64_t stream,
                            char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%s.%lld", graft_description_name(description, list), (long long)stream - 1);
}

int graft_streams_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t count = graft_read_int(reader, D_STREAMS_COUNT);
    const int64_t width = graft_read_int(reader, D_HIDDEN_SIZE);
    for (int64_t i = 0; i < 2 * count && reader->status == GRAFT_OK; i++) {
        char name[MAX_NAME];
        name_projection(reader->description, lists[i / count], i % count, name);
        if (i % count > 0) {
            graft_describe_linear(sink, name, width, width, 0, error);
        }
    }
    return reader->status == GRAFT_OK ? error->code : reader->status;
}

void graft_streams_find(struct graft_streams *self, struct graft_reader *reader, const struct graft_build *build,
                        struct graft_error *error) {
    self->count = graft_read_int(reader, D_STREAMS_COUNT);
    self->hidden_size = graft_read_int(reader, D_HIDDEN_SIZE);
    for (int64_t i = 1; i < self->count; i++) {
        char name[MAX_NAME];
        name_projection(reader->description, D_STREAMS_IN, i, name);
        self->in[i] = graft_build_child(build, name, error);
        name_projection(reader->description, D_STREAMS_OUT, i, name);
        self->out[i] = graft_build_child(build, name, error);
    }
}

static float mean_square(const float *x, int64_t width) {
    double sum = 0.0;
    for (int64_t i = 0; i < width; i++) {
        sum += (double)x[i] * x[i];
    }
    return (float)(sum / (double)width);
}

/* y = projection(x), with each row scaled to the magnitude of that row of `like`; all are [tokens, hidden_size]. */
static int project(const struct graft_streams *self, const struct graft_module *projection,
                   const struct graft_call *call, int64_t tokens, const float *x, const float *like, float *y,
                   struct graft_error *error) {
    const int64_t width = self->hidden_size;
    const struct graft_linear_args args = {sizeof args, 0, tokens, x, y};
    int status = graft_linear_forward(projection, call, &args, error);
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        const float square = mean_square(y + t * width, width);
        const float factor = sqrtf(mean_square(like + t * width, width)) / sqrtf(square < 1e-5f ? 1e-5f : square);
        for (int64_t i = 0; i < width; i++) {
            y[t * width + i] *= factor;
        }
    }
    return status;
}

int graft_streams_begin(const struct graft_streams *self, const struct graft_call *call, int64_t tokens, float **x,
                        struct graft_error *error) {
    const int64_t n = tokens * self->hidden_size;
    if (self->count == 0) {
        return GRAFT_OK;
    }
    float *streams = graft_scratch_floats(call, self->count, n, error);
    int status = streams != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        memcpy(streams, *x, (size_t)n * sizeof *streams);
    }
    for (int64_t i = 1; i < self->count && status == GRAFT_OK; i++) {
        status = project(self, self->in[i], call, tokens, streams, streams, streams + i * n, error);
    }
    *x = streams;
    return status;
}

int graft_streams_end(const struct graft_streams *self, const struct graft_call *call, int64_t tokens, float *x,
                      struct graft_error *error) {
    const int64_t n = tokens * self->hidden_size;
    if (self->count < 2) {
        return GRAFT_OK;
    }
    float *sum = graft_scratch_floats(call, 1, n, error);
    float *added = graft_scratch_floats(call, 1, n, error);
    if (sum == NULL || added == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    memcpy(sum, x, (size_t)n * sizeof *sum);
    int status = GRAFT_OK;
    for (int64_t i = 1; i < self->count && status == GRAFT_OK; i++) {
        status = project(self, self->out[i], call, tokens, x + i * n, x, added, error);
        for (int64_t j = 0; j < n && status == GRAFT_OK; j++) {
            sum[j] += added[j];
        }
    }
    for (int64_t j = 0; j < n; j++) {
        x[j] = sum[j] / (float)self->count;
    }
    return status;
}

/* --- A layer's part --- */

static const char *name_child(const struct graft_description *description, const char *child, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%s.%s", graft_description_name(description, D_STREAMS_NAME), child);
    return name;
}

int graft_stream_update_describe(struct graft_reader *reader, const struct graft_args *args,
                                 const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->description;
    const int64_t count = graft_read_int(reader, D_STREAMS_COUNT), active = graft_read_int(reader, D_STREAMS_ACTIVE);
    const int64_t width = graft_args_int(args, "hidden_size", 0);
    (void)graft_read_bool(reader,
                          D_STREAMS_SCALED); /* needed by `create`; reading it here makes the field count as used */
    char name[MAX_NAME];
    if (reader->status != GRAFT_OK || count == 0) {
        return reader->status;
    }
    if (active >= count) {
        graft_reader_fail(reader, D_STREAMS_ACTIVE, "expected less than the number of streams (%lld), got %lld",
                          (long long)count, (long long)active);
        return reader->status;
    }
    graft_describe_linear(sink, name_child(description, "prediction_coefs", name), count, count * count, 0, error);
    graft_describe_linear(sink, name_child(description, "correction_coefs", name), count, count, 0, error);
    graft_describe_linear(sink, name_child(description, "modality_router", name), width, count, 0, error);
    graft_describe_given(sink, name_child(description, "router_norm", name),
                         graft_description_name(description, D_CLASS_NORM), GRAFT_INTERFACE_NORM, args, error);
    graft_describe_vector(sink, name_child(description, "correct_output_scale", name), width, error);
    return error->code;
}

void graft_stream_update_find(struct graft_stream_update *self, struct graft_reader *reader,
                              const struct graft_build *build, struct graft_error *error) {
    const struct graft_description *description = reader->description;
    char name[MAX_NAME];
    self->count = graft_read_int(reader, D_STREAMS_COUNT);
    if (self->count == 0) {
        return;
    }
    self->active = graft_read_int(reader, D_STREAMS_ACTIVE);
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->prediction = graft_build_child(build, name_child(description, "prediction_coefs", name), error);
    self->correction = graft_build_child(build, name_child(description, "correction_coefs", name), error);
    self->router = graft_build_child(build, name_child(description, "modality_router", name), error);
    self->norm = graft_build_child(build, name_child(description, "router_norm", name), error);
    if (graft_read_bool(reader, D_STREAMS_SCALED)) {
        self->scale = graft_build_weight(build, name_child(description, "correct_output_scale", name), error);
    }
}

/* Computes coefficients [tokens, n] = projection(tanh(router(norm(x) / hidden_size))) of x [tokens, hidden_size], in
 * scratch memory; NULL with an error recorded on failure. */
static float *find_coefficients(const struct graft_stream_update *self, const struct graft_module *projection,
                                const struct graft_call *call, int64_t tokens, const float *x, int64_t n,
                                struct graft_error *error) {
    const int64_t width = self->hidden_size;
    float *normed = graft_scratch_floats(call, tokens, width, error);
    float *routed = graft_scratch_floats(call, tokens, self->count, error);
    float *coefficients = graft_scratch_floats(call, tokens, n, error);
    if (normed == NULL || routed == NULL || coefficients == NULL) {
        return NULL;
    }
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, (float *)x, NULL, normed};
    const struct graft_linear_args router_args = {sizeof router_args, 0, tokens, normed, routed};
    const struct graft_linear_args projection_args = {sizeof projection_args, 0, tokens, routed, coefficients};
    int status = graft_norm_forward(self->norm, call, &norm_args, error);
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        normed[i] /= (float)width;
    }
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->router, call, &router_args, error);
    }
    for (int64_t i = 0; i < tokens * self->count && status == GRAFT_OK; i++) {
        routed[i] = tanhf(routed[i]);
    }
    return status == GRAFT_OK && graft_linear_forward(projection, call, &projection_args, error) == GRAFT_OK
               ? coefficients
               : NULL;
}

/* predicted[i] = x[i] + sum over j of coefficient[i, j] * x[j] */
int graft_stream_update_predict(const struct graft_stream_update *self, const struct graft_call *call, int64_t tokens,
                                const float *x, float *predicted, struct graft_error *error) {
    const int64_t count = self->count, width = self->hidden_size, n = tokens * width;
    const float *coefficients =
        find_coefficients(self, self->prediction, call, tokens, x + self->active * n, count * count, error);
    if (coefficients == NULL) {
        return error->code;
    }
    memcpy(predicted, x, (size_t)(count * n) * sizeof *x);
    for (int64_t i = 0; i < count * count * tokens; i++) {
        const int64_t token = i / (count * count), to = i / count % count, from = i % count;
        const float *source = x + from * n + token * width;
        float *target = predicted + to * n + token * width;
        for (int64_t d = 0; d < width; d++) {
            target[d] += coefficients[i] * source[d];
        }
    }
    return GRAFT_OK;
}

/* x[i] = predicted[i] + (1 + coefficient[i]) * (computed - predicted[active]) */
int graft_stream_update_correct(const struct graft_stream_update *self, const struct graft_call *call, int64_t tokens,
                                const float *predicted, const float *computed, float *x, struct graft_error *error) {
    const int64_t count = self->count, width = self->hidden_size, n = tokens * width;
    const float *coefficients = find_coefficients(self, self->correction, call, tokens, computed, count, error);
    const float *active = predicted + self->active * n;
    if (coefficients == NULL) {
        return error->code;
    }
    for (int64_t i = 0; i < count * tokens; i++) {
        const int64_t token = i / count, to = i % count;
        for (int64_t d = token * width; d < (token + 1) * width; d++) {
            x[to * n + d] = predicted[to * n + d] + (1.0f + coefficients[i]) * (computed[d] - active[d]);
        }
    }
    return GRAFT_OK;
}
