/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin's descriptor whose numbers and texts come from the input. Pointers stay valid, since validation cannot
 * detect bad ones. A descriptor that passes is read as the host reads it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "graft/linear.h"
#include "graft/option.h"
#include "plugin/validate.h"
#include "registry/registry.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    (void)self;
    (void)call;
    (void)args;
    (void)error;
    return GRAFT_OK;
}

static int create(const struct graft_class *self, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)self;
    (void)build;
    (void)error;
    *instance = NULL;
    return GRAFT_OK;
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    (void)args;
    (void)sink;
    (void)error;
    return GRAFT_OK;
}

/* The input, read piece by piece; after its end, values stay valid. */
struct source {
    const uint8_t *bytes;
    size_t left;
};

static void take(struct source *source, void *value, size_t size) {
    if (source->left > size && source->bytes[0] % 4 == 0) {
        memcpy(value, source->bytes + 1, size);
    }
    size_t step = source->left > size ? size + 1 : source->left;
    source->bytes += step;
    source->left -= step;
}

enum { TEXT = 24 };

static void take_text(struct source *source, char text[TEXT], const char *good) {
    (void)strncpy(text, good, TEXT - 1);
    take(source, text, TEXT - 1);
    text[TEXT - 1] = '\0';
}

struct parts {
    char id[TEXT], target[TEXT], class_name[TEXT], source_name[TEXT], target_name[TEXT], path[TEXT];
    const char *sources[2], *targets[2];
    struct graft_linear vtable;
    struct graft_operation operations[2];
    struct graft_conversion conversion;
    struct graft_class cls;
    struct graft_replacement replacement;
    char option_name[TEXT], option_default[TEXT], offered[TEXT];
    const char *choices[2], *offers[2];
    struct graft_option option;
    struct graft_plugin plugin;
};

static void fill_class(struct source *source, struct parts *parts) {
    take_text(source, parts->source_name, "a.weight");
    take_text(source, parts->target_name, "b.weight");
    parts->sources[0] = parts->sources[1] = parts->source_name;
    parts->targets[0] = parts->targets[1] = parts->target_name;
    parts->vtable = (struct graft_linear){.struct_size = sizeof parts->vtable, .forward = forward};
    parts->operations[0] =
        (struct graft_operation){.struct_size = sizeof parts->operations[0], .kind = GRAFT_OP_CONCATENATE};
    parts->operations[1] = parts->operations[0];
    parts->conversion = (struct graft_conversion){.struct_size = sizeof parts->conversion,
                                                  .n_sources = 2,
                                                  .sources = parts->sources,
                                                  .n_targets = 1,
                                                  .targets = parts->targets,
                                                  .n_operations = 1,
                                                  .operations = parts->operations,
                                                  .operation_stride = sizeof parts->operations[0]};
    take(source, &parts->operations[0].struct_size, 4);
    take(source, &parts->operations[0].kind, 4);
    take(source, &parts->operations[0].dim, 8);
    take(source, &parts->conversion.struct_size, 4);
    take_text(source, parts->class_name, "MyLinear");
    parts->cls = (struct graft_class){.struct_size = sizeof parts->cls,
                                      .name = parts->class_name,
                                      .interface_id = GRAFT_INTERFACE_LINEAR,
                                      .describe = describe,
                                      .create = create,
                                      .forward = &parts->vtable,
                                      .conversions = &parts->conversion,
                                      .n_conversions = 1,
                                      .conversion_stride = sizeof parts->conversion};
    take(source, &parts->cls.struct_size, 4);
    take(source, &parts->cls.flags, 4);
    take(source, &parts->vtable.struct_size, 4);
}

static void fill_plugin(struct source *source, struct parts *parts) {
    take_text(source, parts->id, "fuzzed");
    take_text(source, parts->target, "Linear");
    take_text(source, parts->path, "layers");
    parts->replacement = (struct graft_replacement){.struct_size = sizeof parts->replacement,
                                                    .key = GRAFT_KEY_NAME,
                                                    .target = parts->target,
                                                    .replacement = &parts->cls,
                                                    .module_path = parts->path};
    take(source, &parts->replacement.key, 4);
    take(source, &parts->replacement.struct_size, 4);
    parts->plugin = (struct graft_plugin){GRAFT_PLUGIN_HEADER,     .id = parts->id,
                                          .version = "1",          .license = "MIT",
                                          .description = "fuzzed", .replacements = &parts->replacement,
                                          .n_replacements = 1,     .replacement_stride = sizeof parts->replacement};
    take(source, parts->plugin.magic, 8);
    take(source, &parts->plugin.abi_major, 4);
    take(source, &parts->plugin.abi_minor_needed, 4);
    take(source, &parts->plugin.pointer_size, 4);
    take(source, &parts->plugin.replacement_stride, 4);
    take(source, &parts->plugin.struct_size, 4);
}

/* The options and extensions of the descriptor. */
static void fill_services(struct source *source, struct parts *parts) {
    take_text(source, parts->option_name, "size");
    take_text(source, parts->option_default, "8");
    take_text(source, parts->offered, "acme.gates/1");
    parts->choices[0] = parts->option_default;
    parts->offers[0] = parts->offered;
    parts->option = (struct graft_option){.struct_size = sizeof parts->option,
                                          .kind = GRAFT_OPTION_INT,
                                          .name = parts->option_name,
                                          .help = "fuzzed",
                                          .default_value = parts->option_default,
                                          .choices = parts->choices};
    take(source, &parts->option.kind, 4);
    take(source, &parts->option.struct_size, 4);
    parts->plugin.options = &parts->option;
    parts->plugin.n_options = 1;
    parts->plugin.option_stride = sizeof parts->option;
    parts->plugin.uses_extensions = parts->offers;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static struct parts parts;
    struct source source = {bytes, size};
    struct graft_error error = graft_error_none();
    struct graft_registry *registry = graft_registry_create(NULL);
    fill_class(&source, &parts);
    fill_plugin(&source, &parts);
    fill_services(&source, &parts);
    int status = graft_plugin_validate_identity("fuzzed.so", &parts.plugin, &error);
    if (status == GRAFT_OK) {
        status = graft_plugin_validate_content("fuzzed.so", &parts.plugin, &error);
    }
    if (status == GRAFT_OK) {
        const struct graft_known_plugin added = {&parts.plugin, {.plugin = "fuzzed", .file = "fuzzed.so"}, NULL};
        status = graft_registry_add_plugins(registry, &added, 1, &error);
    }
    if (status != GRAFT_OK && error.message[0] == '\0') {
        abort();
    }
    graft_registry_free(registry);
    return 0;
}
