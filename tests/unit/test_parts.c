/* SPDX-License-Identifier: Apache-2.0 */
/* graft/parts.h: the layer with its norms in every arrangement, one after the other and in parallel, and the head,
 * compared with the sums that define them, on modules with exact arithmetic; and the arguments that norms get. */
#include "graft/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graft/attention.h"
#include "graft/linear.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "plugin/host_services.h"

enum { TOKENS = 3, HIDDEN = 4, COUNT = TOKENS * HIDDEN };

/* The factor of each norm: on the input of attention, its output, the input of the MLP, its output. */
static const float factors[] = {2.0f, -1.0f, 0.5f, 3.0f};
static const char *const norm_names[] = {"a_norm", "a_output_norm", "m_norm", "m_output_norm"};

static float attention_of(float x) {
    return 2.0f * x + 1.0f;
}

static float mlp_of(float x) {
    return 3.0f * x - 1.0f;
}

static int attention_forward(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                             struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->output[i] = attention_of(args->hidden_states[i]);
    }
    return GRAFT_OK;
}

static int mlp_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->output[i] = mlp_of(args->hidden_states[i]);
    }
    return GRAFT_OK;
}

static int norm_forward(void *self, const struct graft_call *call, const struct graft_norm_args *args,
                        struct graft_error *error) {
    const float *factor = self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->hidden_states[i] += args->residual != NULL ? args->residual[i] : 0.0f;
        args->output[i] = args->hidden_states[i] * *factor;
    }
    return GRAFT_OK;
}

static const struct graft_self_attention attention_vtable = {sizeof attention_vtable, 0, attention_forward};
static const struct graft_mlp mlp_vtable = {sizeof mlp_vtable, 0, mlp_forward};
static const struct graft_norm norm_vtable = {sizeof norm_vtable, 0, norm_forward};

static float mixer_of(float x) {
    return 4.0f * x + 2.0f;
}

static int mixer_forward(void *self, const struct graft_call *call, const struct graft_mixer_args *args,
                         struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->output[i] = mixer_of(args->hidden_states[i]);
    }
    return GRAFT_OK;
}

static const struct graft_mixer mixer_vtable = {sizeof mixer_vtable, 0, mixer_forward};

static struct graft_module modules[7];

static const struct graft_module *find_child(void *data, const char *name) {
    (void)data;
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(name, norm_names[i]) == 0) {
            return &modules[i];
        }
    }
    return strcmp(name, "attention") == 0 ? &modules[4]
           : strcmp(name, "mlp") == 0     ? &modules[5]
           : strcmp(name, "mixer") == 0   ? &modules[6]
                                          : NULL;
}

/* Records what `declare` reports: the children and the kept memory. */
struct declared {
    struct graft_parts_layer kept;
    int n_children;
};

static int take_child(void *data, const struct graft_child_info *info, struct graft_error *error) {
    struct declared *declared = data;
    (void)error;
    assert_non_null(find_child(NULL, info->name));
    declared->n_children++;
    return GRAFT_OK;
}

static void *keep(void *data, int64_t bytes, struct graft_error *error) {
    struct declared *declared = data;
    (void)error;
    assert_int_equal(bytes, sizeof declared->kept);
    return &declared->kept;
}

static float expected(float x, int norms, int parallel, float scale) {
    float seen = (norms & 1) != 0 ? x * factors[0] : x;
    float attended = attention_of(seen) * ((norms & 2) != 0 ? factors[1] : 1.0f) * scale;
    if (!parallel || (norms & 4) != 0) {
        seen = (parallel ? x : x + attended) * ((norms & 4) != 0 ? factors[2] : 1.0f);
    }
    return x + attended + mlp_of(seen) * ((norms & 8) != 0 ? factors[3] : 1.0f) * scale;
}

/* Runs hidden_states [COUNT], from -5 on, through a layer of `n_children` children. */
static void run_part(const struct graft_parts_layer *part, const struct graft_args *args, int n_children,
                     float *hidden_states) {
    struct declared declared = {0};
    const struct graft_sink sink = {.struct_size = sizeof sink, .data = &declared, .child = take_child, .keep = keep};
    const struct graft_build build = {.struct_size = sizeof build,
                                      .host = graft_host_get(),
                                      .args = args,
                                      .child = find_child,
                                      .kept = &declared.kept};
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    void *instance = NULL;
    assert_int_equal(graft_parts_layer_declare(part, NULL, args, &sink, &error), GRAFT_OK);
    assert_int_equal(declared.n_children, n_children);
    assert_int_equal(graft_parts_layer_create(NULL, &build, &instance, &error), GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        hidden_states[i] = (float)(i - 5);
    }
    const struct graft_batch batch = {.struct_size = sizeof batch, .sequences = 1, .tokens = TOKENS};
    const struct graft_decoder_layer_args layer_args = {
        .struct_size = sizeof layer_args, .batch = &batch, .hidden_states = hidden_states};
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    assert_int_equal(graft_parts_layer_vtable.forward(instance, &call, &layer_args, &error), GRAFT_OK);
    graft_instance_destroy(instance);
    graft_scratch_destroy(scratch);
}

/* `scale` 1: the layer gets no scale. */
static void run(int norms, int parallel, float scale) {
    const struct graft_parts_layer part = {
        .attention = "attention",
        .attention_class = "Attention",
        .mlp = "mlp",
        .mlp_class = "MLP",
        .norm_class = "Norm",
        .attention_norm = (norms & 1) != 0 ? norm_names[0] : NULL,
        .attention_output_norm = (norms & 2) != 0 ? norm_names[1] : NULL,
        .mlp_norm = (norms & 4) != 0 ? norm_names[2] : NULL,
        .mlp_output_norm = (norms & 8) != 0 ? norm_names[3] : NULL,
        .parallel = parallel,
    };
    const struct graft_arg items[] = {graft_int_arg("hidden_size", HIDDEN), graft_real_arg("residual_scale", scale)};
    const struct graft_args args = graft_args_of(items, scale != 1.0f ? 2 : 1);
    float hidden_states[COUNT];
    run_part(&part, &args, 2 + __builtin_popcount((unsigned)norms), hidden_states);
    for (int i = 0; i < COUNT; i++) {
        assert_true(hidden_states[i] == expected((float)(i - 5), norms, parallel, scale));
    }
}

static void find_modules(void) {
    for (int i = 0; i < 4; i++) {
        modules[i] = (struct graft_module){.instance = (void *)(uintptr_t)&factors[i], .forward = &norm_vtable};
    }
    modules[4].forward = &attention_vtable;
    modules[5].forward = &mlp_vtable;
    modules[6].forward = &mixer_vtable;
}

static void test_arrangements(void **state) {
    (void)state;
    find_modules();
    for (int norms = 0; norms < 16; norms++) {
        for (int parallel = 0; parallel < 2; parallel++) {
            run(norms, parallel, 1.0f);
            run(norms, parallel, 0.25f);
        }
    }
}

static float beside(float x) {
    const float sum = x + attention_of(factors[0] * x) + mixer_of(factors[0] * x);
    return sum + mlp_of(factors[2] * sum);
}

static float mixed(float x) {
    const float sum = x + mixer_of(factors[0] * x);
    return sum + mlp_of(factors[2] * sum);
}

static float fed(float x) {
    return x + mlp_of(factors[2] * x);
}

static float attended(float x) {
    return x + attention_of(factors[0] * x);
}

static float mixed_twice(float x) {
    const float sum = x + attention_of(factors[0] * x);
    return sum + mixer_of(factors[2] * sum);
}

static float from_norms(float x) {
    const float seen = factors[0] * x;
    const float then = factors[2] * (2.0f * seen + 0.5f * attention_of(seen));
    return 4.0f * then + 0.25f * mlp_of(then);
}

/* A mixer in place of attention, beside it, and as the MLP; a layer with one of both only; sums that start from
 * norms. */
static void test_mixed(void **state) {
    static const struct {
        struct graft_parts_layer part;
        int n_children;
        float (*expected)(float x);
    } cases[] = {
        {{.attention = "attention", .mixer = "mixer", .mlp = "mlp", .attention_norm = "a_norm", .mlp_norm = "m_norm"},
         5,
         beside},
        {{.mixer = "mixer", .mlp = "mlp", .attention_norm = "a_norm", .mlp_norm = "m_norm"}, 4, mixed},
        {{.mlp = "mlp", .mlp_norm = "m_norm"}, 2, fed},
        {{.attention = "attention", .attention_norm = "a_norm"}, 2, attended},
        {{.attention = "attention", .mlp = "mixer", .mlp_mixes = 1, .attention_norm = "a_norm", .mlp_norm = "m_norm"},
         4,
         mixed_twice},
        {{.attention = "attention",
          .mlp = "mlp",
          .attention_norm = "a_norm",
          .mlp_norm = "m_norm",
          .residual_normed = 1,
          .attention_skip = 2.0,
          .attention_scale = 0.5,
          .mlp_skip = 4.0,
          .mlp_scale = 0.25},
         4,
         from_norms},
    };
    const struct graft_arg item = graft_int_arg("hidden_size", HIDDEN);
    const struct graft_args args = graft_args_of(&item, 1);
    (void)state;
    find_modules();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float hidden_states[COUNT];
        run_part(&cases[i].part, &args, cases[i].n_children, hidden_states);
        for (int k = 0; k < COUNT; k++) {
            assert_true(hidden_states[k] == cases[i].expected((float)(k - 5)));
        }
    }
}

/* --- The head --- */

enum { VOCABULARY = HIDDEN };

static int model_forward(void *self, const struct graft_call *call, const struct graft_base_model_args *args,
                         struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->last_hidden_state[i] = (float)(i - 5);
    }
    return GRAFT_OK;
}

static int head_forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                        struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    memcpy(args->y, args->x, (size_t)args->tokens * HIDDEN * sizeof(float));
    return GRAFT_OK;
}

static const struct graft_base_model model_vtable = {sizeof model_vtable, 0, model_forward};
static const struct graft_linear head_vtable = {.struct_size = sizeof head_vtable, .forward = head_forward};
static const struct graft_module model = {.forward = &model_vtable};
static const struct graft_module head = {.forward = &head_vtable};

static const struct graft_module *find_half(void *data, const char *name) {
    (void)data;
    return strcmp(name, "model") == 0 ? &model : strcmp(name, "lm_head") == 0 ? &head : NULL;
}

static void *keep_bytes(void *data, int64_t bytes, struct graft_error *error) {
    (void)error;
    assert_in_range(bytes, 1, 256);
    return data;
}

static int take_any(void *data, const struct graft_child_info *info, struct graft_error *error) {
    (void)data;
    (void)info;
    (void)error;
    return GRAFT_OK;
}

static int take_attribute(void *data, const char *name, const int64_t *values, int32_t count,
                          struct graft_error *error) {
    (void)data;
    (void)name;
    (void)values;
    (void)count;
    (void)error;
    return GRAFT_OK;
}

/* Checks the logits of the last two tokens. */
static void run_head(double logit_scale, double softcap) {
    const struct graft_parts_causal_lm part = {.model = "model", .model_class = "Model"};
    const struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = VOCABULARY, .hidden_size = HIDDEN, .logit_scale = logit_scale, .softcap = softcap};
    _Alignas(16) char kept[256];
    const struct graft_sink sink = {
        .struct_size = sizeof sink, .data = kept, .child = take_any, .attribute = take_attribute, .keep = keep_bytes};
    const struct graft_build build = {
        .struct_size = sizeof build, .host = graft_host_get(), .child = find_half, .kept = kept};
    static const int32_t rows[] = {1, 2};
    const struct graft_batch batch = {.struct_size = sizeof batch, .sequences = 1, .tokens = TOKENS};
    float logits[2 * VOCABULARY];
    const struct graft_causal_lm_args args = {
        .struct_size = sizeof args, .batch = &batch, .n_rows = 2, .rows = rows, .logits = logits};
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    void *instance = NULL;
    assert_int_equal(graft_parts_causal_lm_declare(&part, &sizes, &sink, &error), GRAFT_OK);
    assert_int_equal(graft_parts_causal_lm_create(NULL, &build, &instance, &error), GRAFT_OK);
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    assert_int_equal(graft_parts_causal_lm_vtable.forward(instance, &call, &args, &error), GRAFT_OK);
    for (int i = 0; i < 2 * VOCABULARY; i++) {
        double logit = (i + HIDDEN - 5) * (logit_scale > 0.0 ? logit_scale : 1.0);
        double wanted = softcap > 0.0 ? softcap * tanh(logit / softcap) : logit;
        assert_true(fabs((double)logits[i] - wanted) < 1e-6);
    }
    graft_instance_destroy(instance);
    graft_scratch_destroy(scratch);
}

static void test_logits(void **state) {
    (void)state;
    run_head(0.0, 0.0);
    run_head(0.0625, 0.0);
    run_head(0.0, 2.0);
    run_head(0.5, 2.0);
}

/* --- Norms without a bias --- */

struct seen {
    int64_t norm_bias; /* bias argument of the last norm; -1: none */
    int64_t layer_bias;
};

static int see_child(void *data, const struct graft_child_info *info, struct graft_error *error) {
    struct seen *seen = data;
    (void)error;
    int64_t bias = graft_args_int(info->args, "bias", -1);
    seen->norm_bias = strcmp(info->name, "norm") == 0 ? bias : seen->norm_bias;
    seen->layer_bias = strcmp(info->name, "layers.0") == 0 ? bias : seen->layer_bias;
    return GRAFT_OK;
}

static int see_attribute(void *data, const char *name, const int64_t *values, int32_t count,
                         struct graft_error *error) {
    (void)data;
    (void)name;
    (void)values;
    (void)count;
    (void)error;
    return GRAFT_OK;
}

static char model_kept[256];

static void *keep_model(void *data, int64_t bytes, struct graft_error *error) {
    (void)data;
    return keep_bytes(model_kept, bytes, error);
}

static void test_norms_without_bias(void **state) {
    (void)state;
    for (int32_t without = 0; without < 2; without++) {
        const struct graft_parts_model part = {.embeddings = "embeddings",
                                               .layers = "layers",
                                               .layer_class = "Layer",
                                               .norm = "norm",
                                               .norm_class = "LayerNorm",
                                               .norms_without_bias = without};
        const struct graft_args none = {.struct_size = sizeof none};
        const struct graft_parts_model_sizes sizes = {
            .vocab_size = VOCABULARY, .hidden_size = HIDDEN, .num_hidden_layers = 1, .layer_args = &none};
        struct seen seen = {-2, -2};
        const struct graft_sink sink = {.struct_size = sizeof sink,
                                        .data = &seen,
                                        .attribute = see_attribute,
                                        .child = see_child,
                                        .keep = keep_model};
        struct graft_error error = graft_error_none();
        assert_int_equal(graft_parts_model_declare(&part, &sizes, &sink, &error), GRAFT_OK);
        assert_int_equal(seen.norm_bias, without ? 0 : -1);
        assert_int_equal(seen.layer_bias, without ? 0 : -1);
    }
}

/* --- The embeddings' scale --- */

static int layer_forward(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                         struct graft_error *error) {
    (void)self;
    (void)call;
    (void)args;
    (void)error;
    return GRAFT_OK;
}

static int embedding_forward(void *self, const struct graft_call *call, const struct graft_embedding_args *args,
                             struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int64_t i = 0; i < args->tokens * HIDDEN; i++) {
        args->output[i] = (float)args->ids[i / HIDDEN];
    }
    return GRAFT_OK;
}

static const struct graft_decoder_layer layer_vtable = {sizeof layer_vtable, 0, layer_forward};
static const struct graft_embedding embedding_vtable = {sizeof embedding_vtable, 0, embedding_forward};

static const struct graft_module *find_part(void *data, const char *name) {
    static const float one = 1.0f;
    static const struct graft_module embeddings = {.forward = &embedding_vtable};
    static const struct graft_module layer = {.forward = &layer_vtable};
    static struct graft_module norm;
    norm = (struct graft_module){.instance = (void *)(uintptr_t)&one, .forward = &norm_vtable};
    (void)data;
    return strcmp(name, "layers.0") == 0 ? &layer : strcmp(name, "norm") == 0 ? &norm : &embeddings;
}

/* Ids 2, 4, 6 as embeddings, to which positions 0, 1, 2 are added unscaled; one vector replaces an id. */
static void run_model(double scale) {
    static const struct graft_parts_model part = {.embeddings = "embeddings",
                                                  .position_embeddings = "positions",
                                                  .layers = "layers",
                                                  .layer_class = "Layer",
                                                  .norm = "norm",
                                                  .norm_class = "LayerNorm"};
    const struct graft_args none = {.struct_size = sizeof none};
    const struct graft_parts_model_sizes sizes = {.vocab_size = VOCABULARY,
                                                  .hidden_size = HIDDEN,
                                                  .num_hidden_layers = 1,
                                                  .max_position_embeddings = TOKENS,
                                                  .layer_args = &none,
                                                  .embedding_scale = scale};
    const struct graft_sink sink = {
        .struct_size = sizeof sink, .attribute = see_attribute, .child = take_any, .keep = keep_model};
    const struct graft_build build = {
        .struct_size = sizeof build, .host = graft_host_get(), .child = find_part, .kept = model_kept};
    static const int64_t positions[] = {0, 1, 2};
    static const int32_t ids[] = {2, 4, 6}, rows[] = {1};
    static const float given[HIDDEN] = {8.0f, 8.0f, 8.0f, 8.0f};
    const struct graft_batch batch = {
        .struct_size = sizeof batch, .sequences = 1, .tokens = TOKENS, .positions = positions};
    float result[COUNT];
    const struct graft_base_model_args args = {.struct_size = sizeof args,
                                               .batch = &batch,
                                               .input_ids = ids,
                                               .n_embeddings = 1,
                                               .embedding_rows = rows,
                                               .embeddings = given,
                                               .last_hidden_state = result};
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    void *instance = NULL;
    assert_int_equal(graft_parts_model_declare(&part, &sizes, &sink, &error), GRAFT_OK);
    assert_int_equal(graft_parts_model_create(NULL, &build, &instance, &error), GRAFT_OK);
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    assert_int_equal(graft_parts_model_vtable.forward(instance, &call, &args, &error), GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        float embedded = i / HIDDEN == 1 ? 8.0f : (float)ids[i / HIDDEN];
        assert_true(result[i] == embedded * (scale != 0.0 ? (float)scale : 1.0f) + (float)(i / HIDDEN));
    }
    graft_instance_destroy(instance);
    graft_scratch_destroy(scratch);
}

static void test_embedding_scale(void **state) {
    (void)state;
    run_model(0.0);
    run_model(1.0);
    run_model(12.0);
}

/* --- Sizes in config.json --- */

/* Fields added to the numbers that every config has. */
struct said {
    const char *name; /* NULL: nothing */
    double value;
};

static const struct said always[] = {
    {"vocab_size", 8},     {"hidden_size", 4}, {"num_hidden_layers", 1}, {"num_attention_heads", 1},
    {"attention_bias", 1}, {"mlp_bias", 0},    {"intermediate_size", 8}, {"max_position_embeddings", 8}};

static const struct said *find_said(const void *data, const char *path) {
    const struct said *more = data;
    for (; more->name != NULL; more++) {
        if (strcmp(more->name, path) == 0) {
            return more;
        }
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (strcmp(always[i].name, path) == 0) {
            return &always[i];
        }
    }
    return NULL;
}

static int32_t said_kind(const void *data, const char *path) {
    if (find_said(data, path) == NULL) {
        return GRAFT_FIELD_ABSENT;
    }
    return strstr(path, "bias") != NULL ? GRAFT_FIELD_BOOL : strstr(path, "scale") ? GRAFT_FIELD_REAL : GRAFT_FIELD_INT;
}

static int64_t said_integer(const void *data, const char *path) {
    return (int64_t)find_said(data, path)->value;
}

static double said_real(const void *data, const char *path) {
    return find_said(data, path)->value;
}

static const char *said_spelling(const void *data, const char *path) {
    (void)data;
    return path;
}

/* The arguments of the layer. */
struct given {
    int64_t qkv_bias;
    int64_t o_proj_bias;
    double residual_scale;
};

static int see_layer(void *data, const struct graft_child_info *info, struct graft_error *error) {
    (void)error;
    if (strcmp(info->name, "layers.0") == 0) {
        *(struct given *)data =
            (struct given){graft_args_int(info->args, "qkv_bias", -1), graft_args_int(info->args, "o_proj_bias", -1),
                           graft_args_real(info->args, "residual_scale", -1.0)};
    }
    return GRAFT_OK;
}

static int describe(const struct said *more, struct given *given, struct graft_error *error) {
    static const struct graft_parts_model part = {.embeddings = "embeddings",
                                                  .layers = "layers",
                                                  .layer_class = "Layer",
                                                  .norm = "norm",
                                                  .norm_class = "LayerNorm"};
    const struct graft_class cls = {.struct_size = sizeof cls, .data = &part};
    const struct graft_config config = {.struct_size = sizeof config,
                                        .file = "config.json",
                                        .data = more,
                                        .kind = said_kind,
                                        .integer = said_integer,
                                        .real = said_real,
                                        .spelling = said_spelling};
    const struct graft_sink sink = {
        .struct_size = sizeof sink, .data = given, .attribute = see_attribute, .child = see_layer, .keep = keep_model};
    *error = graft_error_none();
    return graft_parts_model_describe(&cls, &config, NULL, &sink, error);
}

/* Biases of queries, keys and values alone, and scales; an invalid scale is reported as the file's fault. */
static void test_sizes(void **state) {
    static const struct {
        struct said more[4];
        struct given given;
    } cases[] = {
        {{{NULL, 0}}, {1, 1, -1.0}},
        {{{"o_proj_bias", 0}}, {1, 0, -1.0}},
        {{{"attention_bias", 0}, {"qkv_bias", 1}}, {1, 0, -1.0}},
        {{{"attention_bias", 0}}, {0, 0, -1.0}},
        {{{"residual_scale", 0.25}, {"embedding_scale", 12.0}}, {1, 1, 0.25}},
    };
    struct graft_error error;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given given = {0};
        assert_int_equal(describe(cases[i].more, &given, &error), GRAFT_OK);
        assert_int_equal(given.qkv_bias, cases[i].given.qkv_bias);
        assert_int_equal(given.o_proj_bias, cases[i].given.o_proj_bias);
        assert_true(given.residual_scale == cases[i].given.residual_scale);
    }
    for (int i = 0; i < 2; i++) {
        const struct said wrong[] = {{i == 0 ? "residual_scale" : "embedding_scale", 0.0}, {NULL, 0}};
        struct given given = {0};
        assert_int_equal(describe(wrong, &given, &error), GRAFT_ERROR_MODEL);
        assert_non_null(strstr(error.message, wrong[0].name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrangements),    cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_logits),          cmocka_unit_test(test_norms_without_bias),
        cmocka_unit_test(test_embedding_scale), cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
