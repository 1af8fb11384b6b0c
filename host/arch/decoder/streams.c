/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/streams.h"

#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"

/* --- The model's part --- */

void graft_streams_outline(struct graft_outline *of, struct graft_streams *self) {
    const char *const lists[] = {graft_outline_name(of, D_STREAMS_IN), graft_outline_name(of, D_STREAMS_OUT)};
    const struct graft_module **const made[] = {self->in, self->out};
    self->count = graft_read_int(&of->reader, D_STREAMS_COUNT);
    self->hidden_size = graft_read_int(&of->reader, D_HIDDEN_SIZE);
    for (int64_t i = 0; i < 2 * self->count; i++) {
        const int64_t stream = i % self->count;
        of->index = stream - 1;
        if (stream > 0) {
            graft_outline_linear(of, &made[i / self->count][stream], lists[i / self->count], self->hidden_size,
                                 self->hidden_size, 0);
        }
    }
    of->index = -1;
}

static float mean_square(const float *x, int64_t width) {
    double sum = 0.0;
    for (int64_t i = 0; i < width; i++) {
        sum += (double)x[i] * x[i];
    }
    return (float)(sum / (double)width);
}

/* projection(x), with each row scaled to the magnitude of that row of `like`; all are [tokens, hidden_size]. */
static void project(const struct graft_streams *self, const struct graft_module *projection,
                    const struct graft_pass *pass, const float *x, const float *like, float *y) {
    const int64_t width = self->hidden_size;
    graft_pass_linear(pass, projection, x, y);
    for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++) {
        const float square = mean_square(y + t * width, width);
        const float factor = sqrtf(mean_square(like + t * width, width)) / sqrtf(square < 1e-5f ? 1e-5f : square);
        for (int64_t i = 0; i < width; i++) {
            y[t * width + i] *= factor;
        }
    }
}

float *graft_streams_begin(const struct graft_streams *self, const struct graft_pass *pass, float *x) {
    const int64_t n = pass->rows * self->hidden_size;
    if (self->count == 0) {
        return x;
    }
    float *streams = graft_pass_floats(pass, self->count * self->hidden_size);
    if (graft_pass_ok(pass)) {
        memcpy(streams, x, (size_t)n * sizeof *streams);
    }
    for (int64_t i = 1; i < self->count && graft_pass_ok(pass); i++) {
        project(self, self->in[i], pass, streams, streams, streams + i * n);
    }
    return streams;
}

void graft_streams_end(const struct graft_streams *self, const struct graft_pass *pass, float *x) {
    const int64_t n = pass->rows * self->hidden_size;
    if (self->count < 2) {
        return;
    }
    float *sum = graft_pass_columns(pass, x, self->hidden_size, 0, self->hidden_size);
    float *added = graft_pass_floats(pass, self->hidden_size);
    for (int64_t i = 1; i < self->count && graft_pass_ok(pass); i++) {
        project(self, self->out[i], pass, x + i * n, x, added);
        graft_pass_add(pass, sum, added, self->hidden_size);
    }
    for (int64_t j = 0; j < n && graft_pass_ok(pass); j++) {
        x[j] = sum[j] / (float)self->count;
    }
}

/* --- Within one layer --- */

void graft_stream_update_outline(struct graft_outline *of, struct graft_stream_update *self) {
    const int64_t count = graft_read_int(&of->reader, D_STREAMS_COUNT), width = graft_outline_hidden_size(of);
    self->count = count;
    self->active = graft_read_int(&of->reader, D_STREAMS_ACTIVE);
    self->hidden_size = width;
    const int has_scale = graft_read_bool(&of->reader, D_STREAMS_SCALED);
    if (of->error->code != GRAFT_OK || count == 0) {
        return;
    }
    if (self->active >= count) {
        graft_reader_fail(&of->reader, D_STREAMS_ACTIVE, "expected less than the number of streams (%lld), got %lld",
                          (long long)count, (long long)self->active);
    }
    of->prefix = graft_outline_name(of, D_STREAMS_NAME);
    graft_outline_linear(of, &self->prediction, "prediction_coefs", count, count * count, 0);
    graft_outline_linear(of, &self->correction, "correction_coefs", count, count, 0);
    graft_outline_linear(of, &self->router, "modality_router", width, count, 0);
    graft_outline_given(of, &self->norm, "router_norm", graft_outline_name(of, D_CLASS_NORM), GRAFT_INTERFACE_NORM);
    graft_outline_vector(of, &self->scale, "correct_output_scale", width);
    of->prefix = NULL;
    self->is_scaled = has_scale;
}

/* Coefficients [tokens, n] = projection(tanh(router(norm(x) / hidden_size))) of x [tokens, hidden_size]. */
static float *find_coefficients(const struct graft_stream_update *self, const struct graft_module *projection,
                                const struct graft_pass *pass, float *x, int64_t n) {
    const int64_t width = self->hidden_size;
    float *normed = graft_pass_normed(pass, self->norm, x, width);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * width; i++) {
        normed[i] /= (float)width;
    }
    float *routed = graft_pass_product(pass, self->router, normed, self->count);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * self->count; i++) {
        routed[i] = tanhf(routed[i]);
    }
    return graft_pass_product(pass, projection, routed, n);
}

/* predicted[i] = x[i] + sum over j of coefficient[i, j] * x[j] */
float *graft_stream_update_predict(const struct graft_stream_update *self, const struct graft_pass *pass,
                                   const float *x) {
    const int64_t count = self->count, width = self->hidden_size, n = pass->rows * width;
    float *predicted = graft_pass_columns(pass, x, count * width, 0, count * width);
    const float *coefficients =
        find_coefficients(self, self->prediction, pass, (float *)x + self->active * n, count * count);
    for (int64_t i = 0; graft_pass_ok(pass) && i < count * count * pass->rows; i++) {
        const int64_t token = i / (count * count), to = i / count % count, from = i % count;
        const float *source = x + from * n + token * width;
        float *target = predicted + to * n + token * width;
        for (int64_t d = 0; d < width; d++) {
            target[d] += coefficients[i] * source[d];
        }
    }
    return predicted;
}

/* x[i] = predicted[i] + (1 + coefficient[i]) * (computed - predicted[active]) */
void graft_stream_update_correct(const struct graft_stream_update *self, const struct graft_pass *pass,
                                 const float *predicted, float *computed, float *x) {
    const int64_t count = self->count, width = self->hidden_size, n = pass->rows * width;
    const float *coefficients = find_coefficients(self, self->correction, pass, computed, count);
    for (int64_t i = 0; graft_pass_ok(pass) && i < count * pass->rows; i++) {
        const int64_t token = i / count, to = i % count;
        const float *active = predicted + self->active * n;
        for (int64_t d = token * width; d < (token + 1) * width; d++) {
            x[to * n + d] = predicted[to * n + d] + (1.0f + coefficients[i]) * (computed[d] - active[d]);
        }
    }
}
