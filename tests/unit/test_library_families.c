/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a type that a plugin adds: how config.json is read, what is built, and messages of failures. */
#include "base/alloc.h"
#include "folder.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/describe.h"
#include "graft/experts.h"
#include "graft/family.h"
#include "graft/host/library.h"
#include "graft/host/registry.h"
#include "library_fixture.h"

static char folder[64];
static struct graft_library *library;
static struct graft_model *model;
static struct graft_error error;

/* --- A llama with the field names of gpt2, and one whose root declares too little --- */

static const struct graft_architecture renamed_architectures[] = {{"RenamedForCausalLM", "LlamaForCausalLM"},
                                                                  {"RenamedModel", "LlamaModel"}};
static const struct graft_config_field renamed_fields[] = {
    {.name = "hidden_size", .alias = "n_embd"},
    {.name = "hidden_size", .alias = "d_model", .kind = GRAFT_FIELD_INT, .integer = 24},
    {.name = "num_hidden_layers", .alias = "n_layer", .kind = GRAFT_FIELD_INT, .integer = 1},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 2},
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50},
    {.name = "attention_bias", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "hidden_act", .kind = GRAFT_FIELD_STRING, .string = "relu"},
    {.name = "rms_norm_eps", .alias = "layer_norm_epsilon", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
    {.name = "mlp_bias", .alias = "use_bias", .flags = GRAFT_FIELD_RENAMED},
};

/* Frequencies of a rope type that differs from the default, if config.json names none. */
static const struct graft_architecture turned_architectures[] = {{"TurnedForCausalLM", "LlamaForCausalLM"}};
static const struct graft_config_field transposed_fields[] = {
    {.name = "rope_parameters", .kind = GRAFT_FIELD_OBJECT},
    {.name = "rope_parameters.rope_type", .kind = GRAFT_FIELD_STRING, .string = "linear"},
    {.name = "rope_parameters.factor", .kind = GRAFT_FIELD_REAL, .real = -2.0},
};

static int describe_nothing(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *failure) {
    (void)self, (void)config, (void)args, (void)sink, (void)failure;
    return GRAFT_OK;
}

static int no_logits(void *self, const struct graft_call *call, const struct graft_causal_lm_args *args,
                     struct graft_error *failure) {
    (void)self, (void)call, (void)args, (void)failure;
    return GRAFT_OK;
}

static const struct graft_causal_lm silent_vtable = {.struct_size = sizeof silent_vtable, .forward = no_logits};
static const struct graft_class silent_class = {
    .struct_size = sizeof silent_class,
    .name = "SilentForCausalLM",
    .interface_id = GRAFT_INTERFACE_CAUSAL_LM,
    .describe = describe_nothing,
    .create = graft_create_stateless,
    .forward = &silent_vtable,
};
static const struct graft_architecture silent_architectures[] = {{"SilentForCausalLM", NULL}};

/* --- Classes derived from Llama's, rightly and wrongly --- */

static int describe_base_and_norm(const struct graft_class *self, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *failure) {
    int64_t width = 0;
    int status = graft_config_int(config, "norm_width", 1, 1024, &width, failure);
    (void)self, (void)args;
    if (status == GRAFT_OK) {
        status = sink->base(sink->data, NULL, failure);
    }
    return status == GRAFT_OK && width > 0 ? graft_describe_norm(sink, "q_norm", "LlamaRMSNorm", width, 1e-6, failure)
                                           : status;
}

/* Passes LlamaModel one argument, whose name and kind config.json chooses. */
static int describe_with_argument(const struct graft_class *self, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *failure) {
    static const int64_t windows[40] = {5, 0};
    const char *name = NULL;
    const char *text = NULL;
    int64_t count = 0;
    int64_t integer = 0;
    double real = 0.0;
    (void)self, (void)args;
    int status = graft_config_string(config, "argument", &name, failure);
    if (status != GRAFT_OK || name == NULL) {
        return status == GRAFT_OK ? sink->base(sink->data, NULL, failure) : status;
    }
    (void)graft_config_string(config, "text", &text, failure);
    (void)graft_config_int(config, "count", 1, 40, &count, failure);
    (void)graft_config_int(config, "integer", 1, 1024, &integer, failure);
    (void)graft_config_real(config, "real", -1.0, &real, failure);
    struct graft_arg items[40];
    for (size_t i = 0; i < 40; i++) {
        items[i] = text != NULL  ? graft_string_arg(name, text)
                   : count > 0   ? graft_ints_arg(name, windows, (int32_t)count)
                   : integer > 0 ? graft_int_arg(name, integer)
                                 : graft_real_arg(name, real);
    }
    int64_t given = 1;
    (void)graft_config_int(config, "given", 1, 40, &given, failure);
    const struct graft_args more = graft_args_of(items, (int32_t)given);
    return sink->base(sink->data, &more, failure);
}

#define DERIVED(class_name, base_name, interface) \
    { GRAFT_DERIVED_CLASS(class_name, base_name, GRAFT_INTERFACE_##interface) }

static const struct graft_class derived_classes[] = {
    DERIVED("DerivedForCausalLM", "LlamaForCausalLM", CAUSAL_LM),
    {GRAFT_DERIVED_CLASS("DerivedModel", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = describe_with_argument},
    {GRAFT_DERIVED_CLASS("DerivedAttention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = describe_base_and_norm},
    DERIVED("LlamaMLP", "LlamaMLP", MLP),
    DERIVED("OrphanForCausalLM", "LamaForCausalLM", CAUSAL_LM),
    DERIVED("MixedForCausalLM", "LlamaModel", CAUSAL_LM),
    DERIVED("RoundForCausalLM", "SquareForCausalLM", CAUSAL_LM),
    DERIVED("SquareForCausalLM", "RoundForCausalLM", CAUSAL_LM),
    {.struct_size = sizeof(struct graft_class),
     .name = "LonelyForCausalLM",
     .interface_id = GRAFT_INTERFACE_CAUSAL_LM,
     .describe = graft_describe_base,
     .create = graft_create_stateless,
     .forward = &silent_vtable},
};
static const struct graft_architecture derived_architectures[] = {
    {"DerivedForCausalLM", NULL}, {"OrphanForCausalLM", NULL}, {"MixedForCausalLM", NULL},
    {"RoundForCausalLM", NULL},   {"LonelyForCausalLM", NULL},
};
static const struct graft_class sparse_classes[] = {DERIVED("SparseExperts", "MixtralExperts", EXPERTS)};
static const struct graft_architecture sparse_architectures[] = {{"SparseForCausalLM", "MixtralForCausalLM"}};
static const struct graft_stand_in stand_ins[] = {{"LlamaRMSNorm", "LayerNorm"}};

static const struct graft_family families[] = {
    {
        .struct_size = sizeof families[0],
        .model_type = "renamed",
        .architectures = renamed_architectures,
        .n_architectures = 2,
        .architecture_stride = sizeof renamed_architectures[0],
        .fields = renamed_fields,
        .n_fields = sizeof renamed_fields / sizeof renamed_fields[0],
        .field_stride = sizeof renamed_fields[0],
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "silent",
        .architectures = silent_architectures,
        .n_architectures = 1,
        .architecture_stride = sizeof silent_architectures[0],
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "derived",
        .architectures = derived_architectures,
        .n_architectures = 5,
        .architecture_stride = sizeof derived_architectures[0],
        .classes = derived_classes,
        .n_classes = sizeof derived_classes / sizeof derived_classes[0],
        .class_stride = sizeof derived_classes[0],
        .stand_ins = stand_ins,
        .n_stand_ins = 1,
        .stand_in_stride = sizeof stand_ins[0],
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "sparse",
        .architectures = sparse_architectures,
        .n_architectures = 1,
        .architecture_stride = sizeof sparse_architectures[0],
        .classes = sparse_classes,
        .n_classes = 1,
        .class_stride = sizeof sparse_classes[0],
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "turned",
        .architectures = turned_architectures,
        .n_architectures = 1,
        .architecture_stride = sizeof turned_architectures[0],
        .fields = transposed_fields,
        .n_fields = sizeof transposed_fields / sizeof transposed_fields[0],
        .field_stride = sizeof transposed_fields[0],
    },
};

/* The root of the second family is a class of the plugin itself. */
static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "families",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Families of the tests",
    .families = families,
    .n_families = sizeof families / sizeof families[0],
    .family_stride = sizeof families[0],
    .classes = &silent_class,
    .n_classes = 1,
    .class_stride = sizeof silent_class,
};

static int set_up(void **state) {
    (void)state;
    folder_create(folder);
    error = graft_error_none();
    library = new_library();
    assert_int_equal(graft_library_register_plugin(library, &plugin, &error), GRAFT_OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_model_free(model);
    model = NULL;
    graft_library_free(library);
    folder_remove(folder);
    return 0;
}

/* Opens a model without weights. */
static int open_model(const char *config) {
    const struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    graft_model_free(model);
    model = NULL;
    error = graft_error_none();
    folder_put(folder, "config.json", config, strlen(config));
    return graft_model_open(library, folder, &options, &model, &error);
}

static void opened(const char *config) {
    if (open_model(config) != GRAFT_OK) {
        fail_msg("%s: %s: %s", config, error.source, error.message);
    }
}

static void refused(const char *config, int status, const char *message) {
    assert_int_equal(open_model(config), status);
    assert_string_equal(error.message, message);
}

static const struct graft_planned_parameter *parameter(const char *name) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    for (size_t i = 0; i < plan->n_parameters; i++) {
        if (strcmp(plan->parameters[i]->name, name) == 0) {
            return plan->parameters[i];
        }
    }
    return NULL;
}

static const struct graft_named_module *module_at(const char *path) {
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        if (strcmp(module->path, path) == 0) {
            return module;
        }
    }
    return NULL;
}

static void has_shape(const char *name, int64_t rows, int64_t columns) {
    const struct graft_planned_parameter *found = parameter(name);
    assert_non_null(found);
    assert_int_equal(found->shape[0], rows);
    assert_int_equal(found->shape[1], columns);
}

static void test_aliases_and_defaults(void **state) {
    (void)state;
    opened("{\"model_type\": \"renamed\", \"n_embd\": 16, \"n_layer\": 2}");
    assert_string_equal(graft_model_plan(model)->architecture, "LlamaForCausalLM");
    assert_int_equal(graft_model_vocab_size(model), 50);
    has_shape("model.embed_tokens.weight", 50, 16);
    assert_non_null(parameter("model.layers.1.self_attn.q_proj.bias"));
    assert_null(parameter("model.layers.2.self_attn.q_proj.bias"));
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.act_fn"), "ReLU");
}

/* The classes' name of a field comes first, then aliases in their order, then the default. */
static void test_order_of_aliases(void **state) {
    (void)state;
    opened("{\"model_type\": \"renamed\", \"d_model\": 8}");
    has_shape("model.embed_tokens.weight", 50, 8);
    opened("{\"model_type\": \"renamed\", \"d_model\": 8, \"n_embd\": 12}");
    has_shape("model.embed_tokens.weight", 50, 12);
    opened("{\"model_type\": \"renamed\", \"d_model\": 8, \"n_embd\": 12, \"hidden_size\": 20}");
    has_shape("model.embed_tokens.weight", 50, 20);
    opened("{\"model_type\": \"renamed\", \"attention_bias\": false, \"hidden_act\": \"silu\"}");
    has_shape("model.embed_tokens.weight", 50, 24);
    assert_null(parameter("model.layers.0.self_attn.q_proj.bias"));
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.act_fn"), "SiLUActivation");
}

/* Errors use the file's field names. */
static void test_faults_of_aliases(void **state) {
    (void)state;
    refused("{\"model_type\": \"renamed\", \"n_embd\": \"16\"}", GRAFT_ERROR_MODEL,
            "n_embd: expected an integer, got a string (\"16\")");
    refused("{\"model_type\": \"renamed\", \"n_layer\": 0}", GRAFT_ERROR_MODEL, "n_layer: expected 1 to 4096, got 0");
    refused("{\"model_type\": \"renamed\", \"layer_norm_epsilon\": -1.0}", GRAFT_ERROR_MODEL,
            "layer_norm_epsilon: expected at least 0, got -1");
    refused("{\"model_type\": \"renamed\", \"layer_norm_epsilon\": null}", GRAFT_ERROR_MODEL,
            "layer_norm_epsilon: expected a number, got null");
}

/* Then classes do not read the file's own field of that name. */
static void test_renamed_field(void **state) {
    (void)state;
    opened("{\"model_type\": \"renamed\", \"mlp_bias\": true}");
    assert_null(parameter("model.layers.0.mlp.up_proj.bias"));
    opened("{\"model_type\": \"renamed\", \"mlp_bias\": \"none\", \"use_bias\": true}");
    assert_non_null(parameter("model.layers.0.mlp.up_proj.bias"));
    refused("{\"model_type\": \"renamed\", \"use_bias\": 1}", GRAFT_ERROR_MODEL,
            "use_bias: expected a boolean, got an integer (1)");
}

static void test_architectures(void **state) {
    (void)state;
    opened("{\"model_type\": \"renamed\", \"architectures\": [\"RenamedModel\"]}");
    assert_string_equal(graft_model_plan(model)->architecture, "LlamaModel");
    refused("{\"model_type\": \"renamed\", \"architectures\": [\"RenamedForTokenClassification\"]}", GRAFT_ERROR_MODEL,
            "architectures: model_type \"renamed\" has no RenamedForTokenClassification; it has RenamedForCausalLM, "
            "RenamedModel");
    refused("{\"model_type\": \"renamed\", \"architectures\": [\"Qwen2ForCausalLM\"]}", GRAFT_ERROR_MODEL,
            "architectures: Qwen2ForCausalLM does not belong to model_type \"renamed\" but to \"qwen2\"");
}

static void test_unknown_model_type(void **state) {
    (void)state;
    assert_int_equal(open_model("{\"model_type\": \"mystery\"}"), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "model_type: \"mystery\" is not known");
    assert_int_equal(open_model("{\"model_type\": \"derivde\"}"), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "model_type: \"derivde\" is not known (did you mean derived?)");
    assert_string_equal(error.hint, "load a plugin that brings the model type (graft/family.h)");
}

static void test_root_without_numbers(void **state) {
    (void)state;
    refused("{\"model_type\": \"silent\"}", GRAFT_ERROR_PLUGIN,
            "attribute vocab_size: expected a root class to give 1 to 2147483647, got 0");
    assert_string_equal(error.source, "SilentForCausalLM");
}

static void test_listed(void **state) {
    struct graft_family_info *list = NULL;
    size_t n = 0;
    (void)state;
    assert_int_equal(graft_library_families(library, &list, &n, &error), GRAFT_OK);
    size_t own = 0;
    while (own < n && list[own].family != &families[0]) {
        own++;
    }
    assert_true(own < n);
    assert_null(list[0].plugin);
    assert_string_equal(list[own].plugin, "families");
    assert_int_equal(list[own].is_used, 1);
    graft_families_free(list);
}

/* Faults of a descriptor that the host finds before it registers it. */
static void test_refused_descriptors(void **state) {
    static const char *const patterns[] = {"(", NULL};
    struct graft_family bad = families[0];
    struct graft_plugin other = plugin;
    const struct graft_config_field field = {.name = "a..b"};
    const struct graft_config_field unnamed = {.name = "a", .flags = GRAFT_FIELD_RENAMED};
    const struct graft_config_field unknown = {.name = "a", .flags = 1U << 31};
    (void)state;
    other.id = "other";
    other.families = &bad;
    other.n_families = 1;
    const struct {
        struct graft_family family;
        const char *message;
    } cases[] = {
        {{.struct_size = 8}, "families[0].struct_size: expected at least"},
        {{.struct_size = sizeof bad}, "families[0].model_type: expected"},
        {{.struct_size = sizeof bad, .reserved = 1}, "families[0].reserved: expected 0"},
        {{.struct_size = sizeof bad, .model_type = "a"}, "families[0].n_architectures: expected 1 to"},
        {{.struct_size = sizeof bad, .model_type = "a", .architectures = renamed_architectures, .n_architectures = 1},
         "families[0].architecture_stride: expected"},
        {{.struct_size = sizeof bad,
          .model_type = "a",
          .architectures = silent_architectures,
          .n_architectures = 1,
          .architecture_stride = sizeof silent_architectures[0],
          .ignored_tensors = patterns},
         "families[0].ignored_tensors[0]"},
        {{.struct_size = sizeof bad,
          .model_type = "a",
          .architectures = silent_architectures,
          .n_architectures = 1,
          .architecture_stride = sizeof silent_architectures[0],
          .fields = &field,
          .n_fields = 1,
          .field_stride = sizeof field},
         "families[0].fields[0].name: expected a field or a dotted path, got \"a..b\""},
        {{.struct_size = sizeof bad,
          .model_type = "a",
          .architectures = silent_architectures,
          .n_architectures = 1,
          .architecture_stride = sizeof silent_architectures[0],
          .fields = &unnamed,
          .n_fields = 1,
          .field_stride = sizeof unnamed},
         "families[0].fields[0].alias: expected a name, which every GRAFT_FIELD_RENAMED needs"},
        {{.struct_size = sizeof bad,
          .model_type = "a",
          .architectures = silent_architectures,
          .n_architectures = 1,
          .architecture_stride = sizeof silent_architectures[0],
          .fields = &unknown,
          .n_fields = 1,
          .field_stride = sizeof unknown},
         "families[0].fields[0].flags: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        error = graft_error_none();
        bad = cases[i].family;
        assert_int_equal(graft_library_register_plugin(library, &other, &error), GRAFT_ERROR_PLUGIN);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: expected \"%s\" in \"%s\"", i, cases[i].message, error.message);
        }
    }
}

#define SMALL                                                                                              \
    "\"num_hidden_layers\": 1, \"hidden_size\": 8, \"intermediate_size\": 8, \"num_attention_heads\": 2, " \
    "\"vocab_size\": 9"

/* A default that is an object is used as a whole: if the file has the object, its fields have no defaults. */
static void test_default_objects(void **state) {
    static const char bad_default[] = "rope_parameters.factor: expected more than 0, got -2";
    (void)state;
    refused("{\"model_type\": \"turned\", " SMALL "}", GRAFT_ERROR_MODEL, bad_default);
    refused("{\"model_type\": \"turned\", \"rope_parameters\": null, " SMALL "}", GRAFT_ERROR_MODEL, bad_default);
    refused("{\"model_type\": \"turned\", \"rope_parameters\": {\"rope_type\": \"linear\"}, " SMALL "}",
            GRAFT_ERROR_MODEL, "rope_parameters.factor: missing, expected a number");
    opened("{\"model_type\": \"turned\", \"rope_parameters\": {\"rope_theta\": 5.0}, " SMALL "}");
}

/* The names in the host's descriptions mean the derived classes that the family lists. */
static void test_derived(void **state) {
    (void)state;
    opened("{\"model_type\": \"derived\", " SMALL "}");
    assert_string_equal(graft_model_class_at(model, "model"), "DerivedModel");
    assert_string_equal(graft_model_class_at(model, "model.layers.0"), "LlamaDecoderLayer");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.self_attn"), "DerivedAttention");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp"), "LlamaMLP");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.input_layernorm"), "LayerNorm");
    assert_non_null(parameter("model.norm.bias"));
    has_shape("model.layers.0.self_attn.q_proj.weight", 8, 8);
    assert_null(parameter("model.layers.0.self_attn.q_norm.weight"));
    assert_string_equal(module_at("model.layers.0.mlp")->plugin, "families");
    assert_null(module_at("model.layers.0")->plugin);
}

/* A name in a class's own description means what it says: here the host's norm, which LayerNorm replaces in inherited
 * descriptions only. */
static void test_described_beside_the_base(void **state) {
    (void)state;
    opened("{\"model_type\": \"derived\", \"norm_width\": 4, " SMALL "}");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.self_attn.q_norm"), "LlamaRMSNorm");
    assert_int_equal(parameter("model.layers.0.self_attn.q_norm.weight")->shape[0], 4);
}

/* A class's conversions, and those of a model type with the class, are its base's. */
static void test_inherited_conversions(void **state) {
    static const char *const names[] = {"SparseExperts", "sparse"};
    struct graft_weight_transform *transforms = NULL;
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(graft_library_conversions(library, names[i], &transforms, &n, &error), GRAFT_OK);
        assert_int_equal(n, 2);
        if (i == 1) {
            assert_string_equal(transforms[0].scope_class, "SparseExperts");
        }
        graft_transforms_free(transforms);
    }
    opened("{\"model_type\": \"sparse\", \"num_key_value_heads\": 2, " SMALL "}");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.experts"), "SparseExperts");
}

static const struct graft_arg *argument(const char *path, const char *name, int32_t kind) {
    return graft_args_find(module_at(path)->arguments, name, kind);
}

/* Arguments that a class passes to its base are arguments of the module, like those from its parent; a model passes
 * some to its layers. */
static void test_arguments_for_the_base(void **state) {
    (void)state;
    opened("{\"model_type\": \"derived\", " SMALL "}");
    assert_null(argument("model", "softcap", GRAFT_ARG_REAL));
    assert_null(argument("model.layers.0.self_attn", "softcap", GRAFT_ARG_REAL));
    opened("{\"model_type\": \"derived\", \"argument\": \"softcap\", \"real\": 2.5, " SMALL "}");
    assert_true(argument("model", "softcap", GRAFT_ARG_REAL)->real == 2.5);
    assert_true(argument("model.layers.0.self_attn", "softcap", GRAFT_ARG_REAL)->real == 2.5);
    opened("{\"model_type\": \"derived\", \"argument\": \"windows\", \"count\": 1, " SMALL "}");
    assert_int_equal(argument("model", "windows", GRAFT_ARG_INTS)->integers[0], 5);
    assert_null(argument("model.layers.0", "windows", GRAFT_ARG_INTS));
    static const char *const passed_on[] = {"rotary_width", "rope_interleave"};
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        char config[256];
        (void)snprintf(config, sizeof config,
                       "{\"model_type\": \"derived\", \"argument\": \"%s\", \"integer\": 2, " SMALL "}", passed_on[i]);
        opened(config);
        assert_non_null(argument("model.layers.0.self_attn", passed_on[i], GRAFT_ARG_INT));
    }
}

static void test_bad_arguments_for_the_base(void **state) {
    (void)state;
    refused(
        "{\"model_type\": \"derived\", \"argument\": \"softcap\", \"text\": \"2\", " SMALL "}", GRAFT_ERROR_PLUGIN,
        "DerivedModel describes its base: argument softcap: expected a real number, as graft.base_model/1 asks for, "
        "got a string");
    refused("{\"model_type\": \"derived\", \"argument\": \"rotary_width\", \"real\": 2.0, " SMALL "}",
            GRAFT_ERROR_PLUGIN,
            "DerivedModel describes its base: argument rotary_width: expected an integer, as graft.base_model/1 asks "
            "for, got a real number");
    refused("{\"model_type\": \"derived\", \"argument\": \"windows\", \"count\": 2, " SMALL "}", GRAFT_ERROR_PLUGIN,
            "argument windows: expected a number for each of 1 layers, got 2");
    refused("{\"model_type\": \"derived\", \"argument\": \"other\", \"given\": 40, " SMALL "}", GRAFT_ERROR_PLUGIN,
            "DerivedModel describes its base: invalid arguments");
}

static void test_bad_bases(void **state) {
    static const struct {
        const char *architecture;
        const char *message;
    } cases[] = {
        {"OrphanForCausalLM", "base of OrphanForCausalLM: there is no class LamaForCausalLM"},
        {"MixedForCausalLM", "base of MixedForCausalLM: the interface of LlamaModel is graft.base_model/1, expected "
                             "graft.causal_lm/1"},
        {"RoundForCausalLM", "base of RoundForCausalLM: its bases go round in a circle"},
        {"LonelyForCausalLM", "LonelyForCausalLM describes its base, \"(null)\", but there is none"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char config[256];
        (void)snprintf(config, sizeof config, "{\"model_type\": \"derived\", \"architectures\": [\"%s\"]}",
                       cases[i].architecture);
        refused(config, GRAFT_ERROR_PLUGIN, cases[i].message);
    }
}

/* Every allocation fails in turn while a model of a plugin's family is opened; then opening succeeds. */
static void test_out_of_memory(void **state) {
    (void)state;
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = open_model("{\"model_type\": \"derived\", \"argument\": \"softcap\", " SMALL "}") != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        assert_int_equal(error.code, failed ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_aliases_and_defaults),
        TEST(test_order_of_aliases),
        TEST(test_faults_of_aliases),
        TEST(test_renamed_field),
        TEST(test_architectures),
        TEST(test_unknown_model_type),
        TEST(test_root_without_numbers),
        TEST(test_listed),
        TEST(test_refused_descriptors),
        TEST(test_default_objects),
        TEST(test_derived),
        TEST(test_described_beside_the_base),
        TEST(test_arguments_for_the_base),
        TEST(test_bad_arguments_for_the_base),
        TEST(test_bad_bases),
        TEST(test_inherited_conversions),
        TEST(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
