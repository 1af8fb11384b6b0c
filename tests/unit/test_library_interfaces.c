/* SPDX-License-Identifier: Apache-2.0 */
/* An interface of plugins: "acme.gate/1", which the host does not know. A plugin's MLP has a child with it, and other
 * plugins replace that child. */
#include "library_fixture.h"

#include "graft/describe.h"
#include "graft/host/modules.h"
#include "graft/host/observe.h"

#define GATE "acme.gate/1"

enum { TOKENS = 4, MAX_LOGITS = TOKENS * 4096 };

/* --- The interface: y[k] *= gate[k] for each token --- */

struct gate_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;
    float *y; /* [tokens, hidden] */
};

/* --- The plugin `gated`: an MLP that calls the original, and then a gate --- */

struct gated_mlp {
    const struct graft_module *super;
    const struct graft_module *gate;
};

static const char *asked_interface = GATE;
static uint32_t asked_features;

static int describe_mlp(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                        const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg hidden = graft_int_arg("hidden_size", graft_args_int(args, "hidden_size", 0));
    (void)cls, (void)config;
    return graft_describe_child(sink, "gate", "AcmeGate", asked_interface, &hidden, 1, error);
}

static int create_mlp(const struct graft_class *cls, const struct graft_build *build, void **instance,
                      struct graft_error *error) {
    struct gated_mlp *self = calloc(1, sizeof *self);
    (void)cls;
    assert_non_null(self);
    self->super = build->super;
    self->gate = graft_build_child(build, "gate", error);
    *instance = self;
    return error->code;
}

static int forward_mlp(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    const struct gated_mlp *self = instance;
    const struct gate_args gate = {sizeof gate, asked_features, args->tokens, args->output};
    int status = graft_mlp_forward(self->super, call, args, error);
    return status == GRAFT_OK ? graft_module_forward(self->gate, call, &gate, error) : status;
}

static const struct graft_mlp gated_vtable = {.struct_size = sizeof gated_vtable, .forward = forward_mlp};
static const struct graft_class gated_mlp = {.struct_size = sizeof gated_mlp,
                                             .flags = GRAFT_CLASS_CALLS_SUPER,
                                             .name = "GatedMLP",
                                             .interface_id = GRAFT_INTERFACE_MLP,
                                             .describe = describe_mlp,
                                             .create = create_mlp,
                                             .destroy = free,
                                             .forward = &gated_vtable};

static int describe_gate(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden = 0;
    (void)cls, (void)config;
    int status = graft_args_size(args, "hidden_size", 1 << 20, sink->path, &hidden, error);
    return status == GRAFT_OK ? graft_describe_parameter(sink, "weight", 1, &hidden, GRAFT_PARAMETER_CONTIGUOUS,
                                                         GRAFT_INIT_ONES, error)
                              : status;
}

static int create_gate(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    (void)cls;
    *instance = (void *)(uintptr_t)graft_build_weight(build, "weight", error);
    return error->code;
}

static int forward_gate(void *instance, const struct graft_call *call, const void *given, struct graft_error *error) {
    const struct graft_weight *weight = instance;
    const struct gate_args *args = given;
    const float *gate = graft_weight_block(weight, 0)->data; /* initial values are f32 */
    (void)call, (void)error;
    for (int64_t i = 0; i < args->tokens * weight->columns; i++) {
        args->y[i] *= gate[i % weight->columns];
    }
    return GRAFT_OK;
}

static const struct graft_vtable gate_vtable = {.struct_size = sizeof gate_vtable, .forward = forward_gate};
static const struct graft_class gate = {.struct_size = sizeof gate,
                                        .name = "AcmeGate",
                                        .interface_id = GATE,
                                        .describe = describe_gate,
                                        .create = create_gate,
                                        .forward = &gate_vtable};

/* --- Other plugins' classes for the gate --- */

static int forward_shut(void *self, const struct graft_call *call, const void *given, struct graft_error *error) {
    const struct graft_module *super = self;
    const struct gate_args *args = given;
    int status = graft_module_forward(super, call, given, error);
    for (int64_t t = 0; t < args->tokens; t++) {
        args->y[t] = 0.0F;
    }
    return status;
}

static const struct graft_vtable shut_vtable = {.struct_size = sizeof shut_vtable, .forward = forward_shut};
static const struct graft_class shut_gate = SUPER_CLASS("ShutGate", GATE, &shut_vtable);

static struct graft_replacement replacements[2]; /* as long as the library */
static struct graft_plugin plugins[2];

static struct graft_library *library;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    library = new_library();
    error = graft_error_none();
    asked_interface = GATE;
    asked_features = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    library = NULL;
    return 0;
}

static int bring(size_t i, const char *id, const char *target, const struct graft_class *cls,
                 const struct graft_class *private_class) {
    replacements[i] = (struct graft_replacement){
        .struct_size = sizeof replacements[i], .key = GRAFT_KEY_NAME, .target = target, .replacement = cls};
    plugins[i] = (struct graft_plugin){GRAFT_PLUGIN_HEADER,
                                       .id = id,
                                       .version = "1.0.0",
                                       .license = "Apache-2.0",
                                       .description = "A plugin of the tests",
                                       .replacements = &replacements[i],
                                       .n_replacements = 1,
                                       .replacement_stride = sizeof replacements[i],
                                       .classes = private_class,
                                       .n_classes = private_class != NULL,
                                       .class_stride = sizeof *private_class};
    return graft_library_register_plugin(library, &plugins[i], &error);
}

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static void refused(int status, const char *source, const char *message) {
    assert_int_equal(status, GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, source);
    assert_string_equal(error.message, message);
    error = graft_error_none();
}

static int open_llama(struct graft_model **model) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    char path[512];
    (void)snprintf(path, sizeof path, "%s/plain/llama", getenv("GRAFT_TEST_GOLDENS"));
    *model = NULL;
    return graft_model_open(library, path, &options, model, &error);
}

static int logits_of(struct graft_model *model, float logits[MAX_LOGITS]) {
    static const int32_t ids[TOKENS] = {5, 7, 11, 13};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    memset(logits, 0, MAX_LOGITS * sizeof *logits);
    return graft_model_logits(model, &prompt, 1, logits, &error);
}

static struct graft_model *run(float logits[MAX_LOGITS]) {
    struct graft_model *model;
    check(open_llama(&model));
    check(graft_model_load(model, &error));
    check(logits_of(model, logits));
    return model;
}

static void test_own_interface(void **state) {
    static float plain[MAX_LOGITS], gated[MAX_LOGITS];
    (void)state;
    graft_model_free(run(plain));
    check(bring(0, "gated", "LlamaMLP", &gated_mlp, &gate));
    struct graft_model *model = run(gated);
    const struct graft_named_module *module = graft_model_find_module(model, "model.layers.1.mlp.gate");
    assert_string_equal(module->class_name, "AcmeGate");
    assert_string_equal(module->interface_id, GATE);
    assert_int_equal(module->n_parameters, 1);
    assert_memory_equal(plain, gated, sizeof plain);
    graft_model_free(model);
}

/* Another plugin's class of the same interface replaces the child, and may call it. */
static void test_replaced(void **state) {
    static float plain[MAX_LOGITS], shut[MAX_LOGITS];
    (void)state;
    graft_model_free(run(plain));
    check(bring(0, "gated", "LlamaMLP", &gated_mlp, &gate));
    check(bring(1, "shut", "AcmeGate", &shut_gate, NULL));
    struct graft_model *model = run(shut);
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.gate"), "ShutGate");
    assert_memory_not_equal(plain, shut, sizeof plain);
    graft_model_free(model);
}

static void test_interfaces_must_match(void **state) {
    struct graft_model *model;
    (void)state;
    check(bring(0, "gated", "LlamaMLP", &gated_mlp, &gate));
    asked_interface = "acme.gate/2";
    refused(open_llama(&model), "model.layers.0.mlp.gate",
            "AcmeGate has the interface acme.gate/1, but its parent expects acme.gate/2");
    asked_interface = GATE;
    check(bring(1, "mlps", "AcmeGate", &first_mlp, NULL));
    refused(open_llama(&model), "mlps",
            "FirstMLP cannot replace AcmeGate at model.layers.0.mlp.gate: its interface is graft.mlp/1, expected "
            "acme.gate/1");
}

static void test_not_for_a_class_of_the_host(void **state) {
    struct graft_model *model;
    (void)state;
    check(bring(0, "shut", "LlamaMLP", &shut_gate, NULL));
    refused(open_llama(&model), "shut",
            "ShutGate cannot replace LlamaMLP at model.layers.0.mlp: its interface is acme.gate/1, expected "
            "graft.mlp/1");
}

/* Calls with features that a class does not support are refused. */
static void test_features(void **state) {
    static float logits[MAX_LOGITS];
    struct graft_model *model;
    (void)state;
    check(bring(0, "gated", "LlamaMLP", &gated_mlp, &gate));
    check(open_llama(&model));
    check(graft_model_load(model, &error));
    asked_features = 4;
    refused(logits_of(model, logits), "model.layers.0.mlp.gate",
            "AcmeGate does not know feature 0x4 of its interface, which this model needs");
    graft_model_free(model);
}

static void test_checked(void **state) {
    struct graft_class bad = gate;
    struct graft_vtable short_vtable = gate_vtable;
    struct graft_vtable empty_vtable = gate_vtable;
    (void)state;
    bad.interface_id = "acme.gate";
    refused(bring(0, "gated", "LlamaMLP", &gated_mlp, &bad), "gated",
            "classes[0].interface_id: expected an id such as \"acme.gate/1\", got \"acme.gate\"");
    bad.interface_id = "graft.gate/1";
    refused(bring(0, "gated", "LlamaMLP", &gated_mlp, &bad), "gated",
            "classes[0].interface_id: expected an interface of this host, got \"graft.gate/1\"");
    bad = gate;
    short_vtable.struct_size = 8;
    bad.forward = &short_vtable;
    refused(bring(0, "gated", "LlamaMLP", &gated_mlp, &bad), "gated",
            "classes[0].forward.struct_size: expected at least 16, got 8");
    empty_vtable.forward = NULL;
    bad.forward = &empty_vtable;
    refused(bring(0, "gated", "LlamaMLP", &gated_mlp, &bad), "gated",
            "classes[0].forward.forward: expected a function, got NULL");
}

/* The host does not know the arguments of the module's calls, so it observes only the others. */
static void test_not_watched(void **state) {
    static float plain[MAX_LOGITS], watched[MAX_LOGITS];
    const struct graft_module_spec chain[] = {{.struct_size = sizeof chain[0], .path = "model.layers.*.mlp.gate"},
                                              {.struct_size = sizeof chain[0], .path = "model.layers.*.mlp.gate"}};
    struct graft_profile *profile = NULL;
    struct graft_comparison *comparison = NULL;
    const struct graft_profile_row *row;
    const struct graft_compared *compared;
    int gates = 0, mlps = 0;
    (void)state;
    check(bring(0, "gated", "LlamaMLP", &gated_mlp, &gate));
    struct graft_model *original = run(plain);
    check(bring(1, "shut", "AcmeGate", &shut_gate, NULL));
    struct graft_model *model = run(plain);
    check(graft_model_profile(model, NULL, &profile, &error));
    check(logits_of(model, watched));
    graft_profile_stop(profile);
    assert_memory_equal(plain, watched, sizeof plain);
    for (size_t i = 0; (row = graft_profile_at(profile, i)) != NULL; i++) {
        mlps += strcmp(row->class_name, "GatedMLP") == 0 && row->phases[GRAFT_PHASE_PROMPT].calls == row->modules;
        gates += strcmp(row->interface_id, GATE) == 0;
    }
    assert_int_equal(mlps, 1);
    assert_int_equal(gates, 0);
    graft_profile_free(profile);
    check(graft_model_compare(model, original, 1, &comparison, &error));
    check(logits_of(model, watched));
    for (size_t i = 0; (compared = graft_comparison_at(comparison, i)) != NULL; i++) {
        if (strcmp(compared->module->interface_id, GATE) == 0) {
            assert_string_equal(compared->reason, "its interface is a plugin's own: its arguments are not known");
            gates++;
        }
    }
    assert_true(gates > 0);
    graft_comparison_free(comparison);
    assert_int_equal(graft_model_fuse_modules(model, chain, 2, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "cannot be fused: its interface acme.gate/1 is a plugin's own");
    graft_model_free(model);
    graft_model_free(original);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_own_interface, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interfaces_must_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_for_a_class_of_the_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_features, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_watched, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
