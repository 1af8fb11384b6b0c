/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each instruction set (meson.build). */
#include "arch/mixers/delta_rule.h"

#include <math.h>
#include <string.h>

#include "graft/batch.h"

enum { CHUNK = 16, LANES = 16 };

/* LANES numbers, in one register or several. */
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* How many rows of a product have sums that fit the registers. */
#if defined(__AVX512F__)
enum { ROWS = 8 };
#else
enum { ROWS = 4 };
#endif

static int64_t width(const struct graft_delta_rule *rule) {
    return 2 * rule->key_heads * rule->key_dim + rule->value_heads * rule->value_dim;
}

/* One head; `stride` is the distance between tokens of q, k and v. */
struct head {
    int64_t key_dim;
    int64_t value_dim;
    int64_t stride;
    int64_t heads; /* distance between tokens of beta */
    int64_t decays;
    int64_t y_stride;
    const float *g; /* tokens are heads * decays apart */
    const float *beta;
    const float *q;
    const float *k;
    float *v;
    float *y;
    float *state; /* [key_dim, value_dim] */
};

static struct head head_of(const struct graft_delta_rule *rule, int64_t number) {
    int64_t keys = rule->key_heads * rule->key_dim;
    int64_t shared = number / (rule->value_heads / rule->key_heads);
    return (struct head){
        .key_dim = rule->key_dim,
        .value_dim = rule->value_dim,
        .stride = width(rule),
        .heads = rule->value_heads,
        .decays = rule->decays,
        .y_stride = rule->value_heads * rule->value_dim,
        .g = rule->g + number * rule->decays,
        .beta = rule->beta + number,
        .q = rule->qkv + shared * rule->key_dim,
        .k = rule->qkv + keys + shared * rule->key_dim,
        .v = rule->qkv + 2 * keys + number * rule->value_dim,
        .y = rule->y + number * rule->value_dim,
        .state = rule->state + number * rule->key_dim * rule->value_dim,
    };
}

static float dot(const float *a, const float *b, int64_t count) {
    lanes parts = {0};
    float sum = 0.0F;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        lanes x;
        lanes y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        parts += x * y;
    }
    for (; i < count; i++) {
        sum += a[i] * b[i];
    }
    for (int l = 0; l < LANES; l++) {
        sum += parts[l];
    }
    return sum;
}

static void add_scaled(float *y, float scale, const float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        y[i] += scale * x[i];
    }
}

static void scale_by(float *x, float scale, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        x[i] *= scale;
    }
}

static void scale_to_length(float *x, int64_t count, float length) {
    scale_by(x, length / sqrtf(dot(x, x, count) + 1e-6F), count);
}

static void normalise(const struct graft_delta_rule *rule, int64_t t) {
    float *q = rule->qkv + t * width(rule);
    float *k = q + rule->key_heads * rule->key_dim;
    float scale = 1.0F / sqrtf((float)rule->key_dim);
    for (int64_t h = 0; h < rule->key_heads; h++) {
        scale_to_length(q + h * rule->key_dim, rule->key_dim, scale);
        scale_to_length(k + h * rule->key_dim, rule->key_dim, 1.0F);
    }
}

static void run_token(const struct head *head, int64_t t) {
    const float *q = head->q + t * head->stride;
    const float *k = head->k + t * head->stride;
    float *v = head->v + t * head->stride;
    float *y = head->y + t * head->y_stride;
    const float *g = head->g + t * head->heads * head->decays;
    float left = expf(g[0]);
    memset(y, 0, (size_t)head->value_dim * sizeof *y);
    for (int64_t n = 0; n < head->key_dim; n++) {
        float *row = head->state + n * head->value_dim;
        scale_by(row, head->decays == 1 ? left : expf(g[n]), head->value_dim);
        add_scaled(v, -k[n], row, head->value_dim);
    }
    scale_by(v, head->beta[t * head->heads], head->value_dim);
    for (int64_t n = 0; n < head->key_dim; n++) {
        float *row = head->state + n * head->value_dim;
        add_scaled(row, k[n], v, head->value_dim);
        add_scaled(y, q[n], row, head->value_dim);
    }
}

/* c[i, j] += factors[i] * sum over d of a[i * a_row + d * a_step] * b[d * b_stride + j], for LANES columns of up to
 * ROWS rows. */
struct product {
    const float *a;
    int64_t a_row;
    int64_t a_step;
    const float *factors; /* [rows]; NULL: 1 */
    const float *b;
    int64_t b_stride;
    int64_t depth;
    float *c;
    int64_t c_stride;
};

static void multiply_block(const struct product *product, int64_t row, int64_t column) {
    const float *a = product->a + row * product->a_row;
    const float *b = product->b + column;
    lanes sums[ROWS] = {{0}};
    for (int64_t d = 0; d < product->depth; d++, a += product->a_step, b += product->b_stride) {
        lanes numbers;
        memcpy(&numbers, b, sizeof numbers);
        for (int r = 0; r < ROWS; r++) {
            sums[r] += a[r * product->a_row] * numbers;
        }
    }
    for (int r = 0; r < ROWS; r++) {
        float *c = product->c + (row + r) * product->c_stride + column;
        lanes before;
        memcpy(&before, c, sizeof before);
        before += (product->factors != NULL ? product->factors[row + r] : 1.0F) * sums[r];
        memcpy(c, &before, sizeof before);
    }
}

static void multiply_one(const struct product *product, int64_t row, int64_t column) {
    float sum = 0.0F;
    for (int64_t d = 0; d < product->depth; d++) {
        sum += product->a[row * product->a_row + d * product->a_step] * product->b[d * product->b_stride + column];
    }
    product->c[row * product->c_stride + column] += (product->factors != NULL ? product->factors[row] : 1.0F) * sum;
}

static void multiply(const struct product *product, int64_t rows, int64_t columns) {
    int64_t whole_rows = rows - rows % ROWS;
    int64_t whole_columns = columns - columns % LANES;
    for (int64_t row = 0; row < whole_rows; row += ROWS) {
        for (int64_t column = 0; column < whole_columns; column += LANES) {
            multiply_block(product, row, column);
        }
    }
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t column = row < whole_rows ? whole_columns : 0; column < columns; column++) {
            multiply_one(product, row, column);
        }
    }
}

/* How much of what token j of a chunk contributed is left after token i: exp of the sum of the g in between. */
struct decays {
    float logarithms[CHUNK]; /* sums of g from the beginning of the chunk */
    float left[CHUNK];       /* how much is left of the state before the chunk */
    float taken[CHUNK];      /* -left */
};

static struct decays decays_of(const struct head *head, int64_t first) {
    struct decays decays;
    float sum = 0.0F;
    for (int64_t i = 0; i < CHUNK; i++) {
        sum += head->g[(first + i) * head->heads];
        decays.logarithms[i] = sum;
        decays.left[i] = expf(sum);
        decays.taken[i] = -decays.left[i];
    }
    return decays;
}

/* c [CHUNK rows, value_dim] += factors * a [CHUNK, key_dim] state */
static void add_of_state(const struct head *head, const float *a, const float *factors, float *c, int64_t c_stride) {
    const struct product product = {a, head->stride, 1, factors, head->state, head->value_dim, head->key_dim,
                                    c, c_stride};
    multiply(&product, CHUNK, head->value_dim);
}

/* Replaces each v by its token's change: beta * (v - state^T k), with the state before that token. */
static void find_changes(const struct head *head, int64_t first, const struct decays *decays) {
    const float *k = head->k + first * head->stride;
    float *v = head->v + first * head->stride;
    add_of_state(head, k, decays->taken, v, head->stride);
    for (int64_t i = 0; i < CHUNK; i++) {
        for (int64_t j = 0; j < i; j++) {
            float match = dot(k + i * head->stride, k + j * head->stride, head->key_dim);
            add_scaled(v + i * head->stride, -match * expf(decays->logarithms[i] - decays->logarithms[j]),
                       v + j * head->stride, head->value_dim);
        }
        scale_by(v + i * head->stride, head->beta[(first + i) * head->heads], head->value_dim);
    }
}

static void find_outputs(const struct head *head, int64_t first, const struct decays *decays) {
    const float *q = head->q + first * head->stride;
    const float *k = head->k + first * head->stride;
    float *y = head->y + first * head->y_stride;
    float weights[CHUNK][CHUNK] = {{0}}; /* weight of token j's change in the output of token i */
    for (int64_t i = 0; i < CHUNK; i++) {
        memset(y + i * head->y_stride, 0, (size_t)head->value_dim * sizeof *y);
        for (int64_t j = 0; j <= i; j++) {
            weights[i][j] = dot(q + i * head->stride, k + j * head->stride, head->key_dim) *
                            expf(decays->logarithms[i] - decays->logarithms[j]);
        }
    }
    const struct product of_chunk = {weights[0],   CHUNK, 1, NULL,          head->v + first * head->stride,
                                     head->stride, CHUNK, y, head->y_stride};
    add_of_state(head, q, decays->left, y, head->y_stride);
    multiply(&of_chunk, CHUNK, head->value_dim);
}

static void change_state(const struct head *head, int64_t first, const struct decays *decays) {
    float *v = head->v + first * head->stride;
    const struct product product = {
        head->k + first * head->stride, 1, head->stride, NULL, v, head->stride, CHUNK, head->state, head->value_dim};
    for (int64_t i = 0; i < CHUNK; i++) {
        scale_by(v + i * head->stride, expf(decays->logarithms[CHUNK - 1] - decays->logarithms[i]), head->value_dim);
    }
    scale_by(head->state, decays->left[CHUNK - 1], head->key_dim * head->value_dim);
    multiply(&product, head->key_dim, head->value_dim);
}

static void run_head(const struct graft_delta_rule *rule, int64_t number) {
    const struct head head = head_of(rule, number);
    const int is_chunked =
        rule->decays == 1 && rule->tokens > GRAFT_SMALL_BATCH; /* few tokens are processed one by one (graft/state.h) */
    int64_t chunks = is_chunked ? rule->tokens / CHUNK : 0;
    int64_t t = 0;
    for (; t < chunks * CHUNK; t += CHUNK) {
        const struct decays decays = decays_of(&head, t);
        find_changes(&head, t, &decays);
        find_outputs(&head, t, &decays);
        change_state(&head, t, &decays);
    }
    for (; t < rule->tokens; t++) {
        run_token(&head, t);
    }
}

const struct graft_delta_rule_loops GRAFT_ISA_NAME(graft_delta_rule) = {run_head, normalise};
