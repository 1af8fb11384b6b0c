/* SPDX-License-Identifier: Apache-2.0 */
/* Modules fused into chains: results that stay the same, requests that are refused, and a plugin's implementation of a
 * chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "chains/glob.h"
#include "graft/describe.h"
#include "graft/host/graft.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"

enum { TOKENS = 5, VOCAB = 64 };

#define NORM "model.layers.*.post_attention_layernorm"
#define MLP "model.layers.*.mlp"

static const int32_t ids[TOKENS] = {3, 17, 42, 5, 60};
static const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};

/* Opens a golden model with the plugins of a directory. */
struct loaded {
    struct graft_library *library;
    struct graft_model *model;
    struct graft_error error;
    float before[TOKENS * VOCAB];
};

static void run(struct loaded *loaded, float *logits) {
    assert_int_equal(graft_model_vocab_size(loaded->model), VOCAB);
    if (graft_model_logits(loaded->model, &prompt, 1, logits, &loaded->error) != GRAFT_OK) {
        fail_msg("%s: %s", loaded->error.source, loaded->error.message);
    }
}

static void open_in(struct loaded *loaded) {
    char path[1024];
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    (void)snprintf(path, sizeof path, "%s/plain/qwen3", getenv("GRAFT_TEST_GOLDENS"));
    assert_int_equal(graft_model_open(loaded->library, path, &options, &loaded->model, &loaded->error), GRAFT_OK);
    assert_int_equal(graft_model_load(loaded->model, &loaded->error), GRAFT_OK);
    run(loaded, loaded->before);
}

static void set_up(struct loaded *loaded, const char *plugins) {
    loaded->error = graft_error_none();
    assert_int_equal(graft_library_create(&loaded->library, &loaded->error), GRAFT_OK);
    if (plugins != NULL) {
        assert_int_equal(graft_library_load_plugins(loaded->library, &plugins, 1, NULL, &loaded->error), GRAFT_OK);
    }
    open_in(loaded);
}

static void tear_down(struct loaded *loaded) {
    graft_model_free(loaded->model);
    graft_library_free(loaded->library);
}

static int fuse(struct loaded *loaded, const char *first, const char *second) {
    const struct graft_module_spec chain[] = {{.struct_size = sizeof chain[0], .path = first},
                                              {.struct_size = sizeof chain[0], .path = second}};
    loaded->error = graft_error_none();
    return graft_model_fuse_modules(loaded->model, chain, 2, &loaded->error);
}

static void need_fuse(struct loaded *loaded, const char *first, const char *second) {
    if (fuse(loaded, first, second) != GRAFT_OK) {
        fail_msg("%s: %s", loaded->error.source, loaded->error.message);
    }
}

/* The largest difference between the logits and those of the unfused model. */
static double distance(struct loaded *loaded) {
    float now[TOKENS * VOCAB];
    double largest = 0.0;
    run(loaded, now);
    for (size_t i = 0; i < TOKENS * VOCAB; i++) {
        double difference = (double)now[i] - (double)loaded->before[i];
        largest = difference > largest ? difference : -difference > largest ? -difference : largest;
        assert_true(difference == difference);
    }
    return largest;
}

static void paths_fit(void **state) {
    (void)state;
    assert_true(graft_glob_fits("model.layers.*.mlp", "model.layers.12.mlp"));
    assert_true(graft_glob_fits("*.*", "a.b"));
    assert_true(graft_glob_fits("a*c*e", "abcccde"));
    assert_true(graft_glob_fits("a*", "a"));
    assert_true(graft_glob_fits("*b.*d", "abb.cd"));
    assert_false(graft_glob_fits("model.layers.*", "model.layers.0.mlp"));
    assert_false(graft_glob_fits("*", "a.b"));
    assert_false(graft_glob_fits("*b.c", "ab.d"));
    assert_false(graft_glob_fits("a*c", "ab.c"));
    assert_false(graft_glob_fits("", "a"));
    assert_false(graft_glob_fits("a", ""));
    assert_true(graft_glob_fits("", ""));
}

static void nothing_changes_fused_and_unfused(void **state) {
    struct loaded loaded;
    (void)state;
    set_up(&loaded, NULL);
    assert_null(graft_model_fused_by(loaded.model, "model.layers.0.mlp"));
    need_fuse(&loaded, NORM, MLP);
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.0.mlp"), "");
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.1.post_attention_layernorm"), "");
    assert_null(graft_model_fused_by(loaded.model, "model.layers.0.input_layernorm"));
    assert_true(distance(&loaded) == 0.0);
    assert_true(distance(&loaded) == 0.0);
    assert_int_equal(graft_model_unfuse_modules(loaded.model, NULL, 0, &loaded.error), GRAFT_OK);
    assert_null(graft_model_fused_by(loaded.model, "model.layers.0.mlp"));
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

/* Layers work in place: each reads its input where the one before wrote its output. Also with chains inside. */
static void layers_are_a_chain(void **state) {
    struct loaded loaded;
    (void)state;
    set_up(&loaded, NULL);
    need_fuse(&loaded, NORM, MLP);
    need_fuse(&loaded, "model.layers.0", "model.layers.1");
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.1"), "");
    assert_true(distance(&loaded) == 0.0);
    assert_int_equal(graft_model_unfuse_modules(loaded.model, NULL, 0, &loaded.error), GRAFT_OK);
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

/* Attention's output is the norm's residual: three modules, connected by names. */
static void names_connect_a_chain_of_three(void **state) {
    struct loaded loaded;
    static const char *const residual[] = {"residual"};
    static const char *const both[] = {"hidden_states", "residual"};
    const struct graft_module_spec chain[] = {
        {.struct_size = sizeof chain[0], .path = "model.layers.*.self_attn", .outputs = residual, .n_outputs = 1},
        {.struct_size = sizeof chain[0], .path = NORM, .inputs = both, .n_inputs = 2},
        {.struct_size = sizeof chain[0], .path = MLP},
    };
    (void)state;
    set_up(&loaded, NULL);
    assert_int_equal(graft_model_fuse_modules(loaded.model, chain, 3, &loaded.error), GRAFT_OK);
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

static void some_layers_only(void **state) {
    struct loaded loaded;
    static const char *const second[] = {"model.layers.1.mlp"};
    (void)state;
    set_up(&loaded, NULL);
    need_fuse(&loaded, "model.layers.*.input_layernorm", "model.layers.*.self_attn");
    need_fuse(&loaded, "model.layers.1.post_attention_layernorm", second[0]);
    assert_true(distance(&loaded) == 0.0);
    assert_int_equal(graft_model_unfuse_modules(loaded.model, second, 1, &loaded.error), GRAFT_OK);
    assert_null(graft_model_fused_by(loaded.model, second[0]));
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.1.self_attn"), "");
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

static void refuses(struct loaded *loaded, const char *first, const char *second, const char *why) {
    assert_int_equal(fuse(loaded, first, second), GRAFT_ERROR_USAGE);
    if (strstr(loaded->error.message, why) == NULL) {
        fail_msg("\"%s\" is not in \"%s: %s\"", why, loaded->error.source, loaded->error.message);
    }
    assert_null(graft_model_fused_by(loaded->model, "model.layers.0.mlp"));
    assert_true(distance(loaded) == 0.0);
}

static void what_is_no_chain_is_refused(void **state) {
    struct loaded loaded;
    (void)state;
    set_up(&loaded, NULL);
    refuses(&loaded, "model.layers.*.norm", MLP, "no module of Qwen3ForCausalLM matches it");
    refuses(&loaded, "model.layers.0.post_attention_layernorm", MLP, "matching modules: 2, but");
    refuses(&loaded, "model.norm", "lm_head", "they have different parents");
    refuses(&loaded, "model.layers", "model.norm", "is a list");
    refuses(&loaded, "model.embed_tokens", "model.norm", "graft.embedding/1 cannot be fused: they take ids");
    refuses(&loaded, NORM, NORM, "named twice");
    refuses(&loaded, "model.layers.1", "model.layers.0", "it runs before that module");
    refuses(&loaded, MLP, NORM, "it runs before that module");
    refuses(&loaded, "model.layers.*.input_layernorm", MLP, "model.layers.0.self_attn runs in between");
    refuses(&loaded, "model.layers.*.self_attn", NORM, "its input is not the output of that module");
    refuses(&loaded, "model.layers.*.mlp.act_fn", "model.layers.*.mlp.down_proj", "results differ");
    refuses(&loaded, "model.layers.*.mlp.gate_proj", "model.layers.*.mlp.act_fn", "up_proj runs in between");
    const struct graft_module_spec alone = {.struct_size = sizeof alone, .path = MLP};
    assert_int_equal(graft_model_fuse_modules(loaded.model, &alone, 1, &loaded.error), GRAFT_ERROR_USAGE);
    tear_down(&loaded);
}

static void names_that_do_not_fit_are_refused(void **state) {
    struct loaded loaded;
    static const char *const other[] = {"other", "another"};
    static const char *const nobody[] = {"_"};
    struct graft_module_spec chain[] = {{.struct_size = sizeof chain[0], .path = NORM},
                                        {.struct_size = sizeof chain[0], .path = MLP}};
    (void)state;
    set_up(&loaded, NULL);
    chain[1].inputs = other;
    chain[1].n_inputs = 1;
    assert_int_equal(graft_model_fuse_modules(loaded.model, chain, 2, &loaded.error), GRAFT_ERROR_USAGE);
    chain[1].n_inputs = 2;
    assert_int_equal(graft_model_fuse_modules(loaded.model, chain, 2, &loaded.error), GRAFT_ERROR_USAGE);
    chain[1].inputs = NULL;
    chain[0].outputs = nobody;
    chain[0].n_outputs = 1;
    assert_int_equal(graft_model_fuse_modules(loaded.model, chain, 2, &loaded.error), GRAFT_ERROR_USAGE);
    chain[0].outputs = NULL;
    assert_int_equal(graft_model_fuse_modules(loaded.model, chain, 2, &loaded.error), GRAFT_OK);
    tear_down(&loaded);
}

static void twice_and_not_at_all(void **state) {
    struct loaded loaded;
    static const char *const norms[] = {"model.layers.*.input_layernorm"};
    static const char *const nowhere[] = {"model.layers.*.nowhere"};
    (void)state;
    set_up(&loaded, NULL);
    assert_int_equal(graft_model_unfuse_modules(loaded.model, NULL, 0, &loaded.error), GRAFT_ERROR_USAGE);
    need_fuse(&loaded, NORM, MLP);
    assert_int_equal(fuse(&loaded, NORM, MLP), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(loaded.error.message, "is already fused"));
    loaded.error = graft_error_none();
    assert_int_equal(graft_model_unfuse_modules(loaded.model, norms, 1, &loaded.error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(loaded.error.message, "is not fused"));
    assert_int_equal(graft_model_unfuse_modules(loaded.model, nowhere, 1, NULL), GRAFT_ERROR_USAGE);
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.0.mlp"), "");
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

/* Chains are reported at once, and take effect when the model is loaded. */
static void fused_before_it_is_loaded(void **state) {
    struct loaded loaded;
    char path[1024];
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    (void)state;
    set_up(&loaded, NULL);
    graft_model_free(loaded.model);
    (void)snprintf(path, sizeof path, "%s/plain/qwen3", getenv("GRAFT_TEST_GOLDENS"));
    assert_int_equal(graft_model_open(loaded.library, path, &options, &loaded.model, &loaded.error), GRAFT_OK);
    assert_int_equal(fuse(&loaded, NORM, "model.nowhere"), GRAFT_ERROR_USAGE);
    assert_null(graft_model_chain(loaded.model, 0));
    need_fuse(&loaded, NORM, MLP);
    const struct graft_chain_info *chain = graft_model_chain(loaded.model, 1);
    assert_int_equal(chain->n_modules, 2);
    assert_string_equal(chain->modules[0]->path, "model.layers.1.post_attention_layernorm");
    assert_string_equal(chain->modules[1]->class_name, "Qwen3MLP");
    assert_null(chain->implementation);
    assert_null(graft_model_fused_by(loaded.model, "model.layers.1.mlp"));
    assert_int_equal(graft_model_load(loaded.model, &loaded.error), GRAFT_OK);
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.1.mlp"), "");
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

/* Modules that cannot run together are detected when the model is loaded, and then nothing is fused. */
static void a_chain_that_loading_refuses(void **state) {
    struct loaded loaded;
    char path[1024];
    (void)state;
    loaded.error = graft_error_none();
    assert_int_equal(graft_library_create(&loaded.library, &loaded.error), GRAFT_OK);
    (void)snprintf(path, sizeof path, "%s/plain/qwen3", getenv("GRAFT_TEST_GOLDENS"));
    assert_int_equal(graft_model_open(loaded.library, path, NULL, &loaded.model, &loaded.error), GRAFT_OK);
    need_fuse(&loaded, MLP, NORM);
    assert_int_equal(graft_model_load(loaded.model, &loaded.error), GRAFT_ERROR_USAGE);
    assert_null(graft_model_chain(loaded.model, 0));
    loaded.error = graft_error_none();
    assert_int_equal(graft_model_load(loaded.model, &loaded.error), GRAFT_OK);
    tear_down(&loaded);
}

/* A plugin's implementation differs from the plain chain by rounding, and by no more. */
static void a_plugin_runs_the_chain(void **state) {
    struct loaded loaded;
    (void)state;
    set_up(&loaded, getenv("GRAFT_TEST_CHAINS"));
    assert_true(distance(&loaded) == 0.0);
    need_fuse(&loaded, NORM, MLP);
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.0.mlp"), "norm_mlp_chain");
    double difference = distance(&loaded);
    assert_true(difference > 0.0 && difference < 5e-5);
    assert_int_equal(graft_model_unfuse_modules(loaded.model, NULL, 0, &loaded.error), GRAFT_OK);
    assert_true(distance(&loaded) == 0.0);
    need_fuse(&loaded, "model.layers.*.input_layernorm", "model.layers.*.self_attn");
    assert_string_equal(graft_model_fused_by(loaded.model, "model.layers.0.self_attn"), "");
    assert_true(distance(&loaded) == 0.0);
    tear_down(&loaded);
}

/* After any failed allocation the model is unchanged. */
static void memory_runs_out(void **state) {
    struct loaded loaded;
    int status = GRAFT_ERROR_INTERNAL;
    (void)state;
    set_up(&loaded, getenv("GRAFT_TEST_CHAINS"));
    for (long n = 1; status != GRAFT_OK; n++) {
        (void)graft_alloc_fail_at(n);
        status = fuse(&loaded, NORM, MLP);
        (void)graft_alloc_fail_at(0);
        assert_true(status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL);
        assert_true((graft_model_fused_by(loaded.model, "model.layers.0.mlp") != NULL) == (status == GRAFT_OK));
    }
    tear_down(&loaded);
}

/* --- A parent that reads the output of one module before it calls the next --- */

struct peeking {
    const struct graft_module *gate_proj;
    const struct graft_module *down_proj;
    float between[TOKENS * 256]; /* kept between calls: old content may be mistaken for new */
    int64_t intermediate;
    int64_t hidden;
};

static int peeking_describe(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden = config->integer(config->data, "hidden_size");
    int64_t intermediate = graft_args_int(args, "intermediate_size", 0);
    (void)cls;
    int status = graft_describe_linear(sink, "gate_proj", hidden, intermediate, 0, error);
    return status == GRAFT_OK ? graft_describe_linear(sink, "down_proj", intermediate, hidden, 0, error) : status;
}

static int peeking_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    struct peeking *self = calloc(1, sizeof *self);
    (void)cls;
    assert_non_null(self);
    self->gate_proj = graft_build_child(build, "gate_proj", error);
    self->down_proj = graft_build_child(build, "down_proj", error);
    self->intermediate = graft_args_int(build->args, "intermediate_size", 0);
    self->hidden = build->config->integer(build->config->data, "hidden_size");
    assert_in_range(self->intermediate, 1, 256);
    *instance = self;
    return error->code;
}

static int peek(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                struct graft_error *error) {
    struct peeking *self = instance;
    const struct graft_linear_args gate = {
        .struct_size = sizeof gate, .tokens = args->tokens, .x = args->hidden_states, .y = self->between};
    const struct graft_linear_args down = {
        .struct_size = sizeof down, .tokens = args->tokens, .x = self->between, .y = args->output};
    int status = graft_linear_forward(self->gate_proj, call, &gate, error);
    float first = self->between[0];
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->down_proj, call, &down, error);
    }
    args->output[0] += first;
    return status;
}

static void a_parent_that_peeks_is_found_out(void **state) {
    static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = peek};
    static const struct graft_class cls = {
        .struct_size = sizeof cls,
        .name = "PeekingMLP",
        .interface_id = GRAFT_INTERFACE_MLP,
        .describe = peeking_describe,
        .create = peeking_create,
        .destroy = free,
        .forward = &vtable,
    };
    const struct graft_patch patch = {.struct_size = sizeof patch, .key = "Qwen3MLP", .replacement = &cls};
    struct loaded loaded = {.error = graft_error_none()};
    (void)state;
    assert_int_equal(graft_library_create(&loaded.library, &loaded.error), GRAFT_OK);
    assert_int_equal(graft_library_register(loaded.library, &patch, 1, 0, &loaded.error), GRAFT_OK);
    open_in(&loaded);
    refuses(&loaded, "model.layers.*.mlp.gate_proj", "model.layers.*.mlp.down_proj", "results differ");
    tear_down(&loaded);
}

/* --- Identity --- */

/* A norm that adds the residual and normalizes nothing. */
static int add_only(void *self, const struct graft_call *call, const struct graft_norm_args *args,
                    struct graft_error *error) {
    int64_t count = args->tokens * 24;
    (void)self;
    (void)call;
    (void)error;
    for (int64_t i = 0; i < count; i++) {
        args->hidden_states[i] += args->residual != NULL ? args->residual[i] : 0.0f;
        args->output[i] = args->hidden_states[i];
    }
    return GRAFT_OK;
}

static int create_nothing(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    (void)cls;
    (void)build;
    (void)error;
    *instance = NULL;
    return GRAFT_OK;
}

static void with_norm(const struct graft_class *norm, const char *path, float *logits) {
    struct loaded loaded = {.error = graft_error_none()};
    const struct graft_patch patch = {
        .struct_size = sizeof patch, .key = "Qwen3RMSNorm", .replacement = norm, .module_path = path};
    assert_int_equal(graft_library_create(&loaded.library, &loaded.error), GRAFT_OK);
    assert_int_equal(graft_library_register(loaded.library, &patch, 1, 0, &loaded.error), GRAFT_OK);
    open_in(&loaded);
    memcpy(logits, loaded.before, sizeof loaded.before);
    tear_down(&loaded);
}

/* As a norm it adds the residual, if there is one. */
static void identity_adds_the_residual(void **state) {
    static const struct graft_norm vtable = {.struct_size = sizeof vtable, .forward = add_only};
    static const char *const paths[] = {"post_attention_layernorm$", "input_layernorm$"};
    float wanted[TOKENS * VOCAB], got[TOKENS * VOCAB];
    struct graft_library *library;
    const struct graft_class *identity;
    (void)state;
    assert_int_equal(graft_library_create(&library, NULL), GRAFT_OK);
    assert_int_equal(graft_library_class(library, "Identity", &identity, NULL), GRAFT_OK);
    struct graft_class theirs = *identity;
    struct graft_class written = *identity;
    theirs.name = "Absorbed";
    written.name = "WrittenDown";
    written.create = create_nothing;
    written.destroy = NULL;
    written.forward = &vtable;
    for (size_t i = 0; i < 2; i++) {
        with_norm(&written, paths[i], wanted);
        with_norm(&theirs, paths[i], got);
        assert_memory_equal(wanted, got, sizeof wanted);
    }
    graft_library_free(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_fit),
        cmocka_unit_test(nothing_changes_fused_and_unfused),
        cmocka_unit_test(layers_are_a_chain),
        cmocka_unit_test(names_connect_a_chain_of_three),
        cmocka_unit_test(some_layers_only),
        cmocka_unit_test(what_is_no_chain_is_refused),
        cmocka_unit_test(names_that_do_not_fit_are_refused),
        cmocka_unit_test(twice_and_not_at_all),
        cmocka_unit_test(fused_before_it_is_loaded),
        cmocka_unit_test(a_chain_that_loading_refuses),
        cmocka_unit_test(a_plugin_runs_the_chain),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(a_parent_that_peeks_is_found_out),
        cmocka_unit_test(identity_adds_the_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
