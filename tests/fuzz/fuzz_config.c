/* SPDX-License-Identifier: Apache-2.0 */
/* config.json, up to the tree that the built-in classes describe from it, with the fusions that its fusion_config
 * requests. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "graft/fusion.h"
#include "graft/linear.h"
#include "library/library.h"

/* --- A family that fuses every second Linear --- */

static int is_fusable(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error) {
    int64_t shape[GRAFT_MAX_RANK];
    int is_linear = strcmp(module->interface_id, GRAFT_INTERFACE_LINEAR) == 0;
    (void)self, (void)error;
    if (!is_linear || module->parameter(module->data, "weight", shape) != 2) {
        return graft_fusion_decide(verdict, 0, "it is no Linear");
    }
    return graft_fusion_decide(verdict, (shape[0] + options->size(options->data, "list")) % 2 == 0, "it is a Linear");
}

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    (void)self, (void)call, (void)args, (void)error;
    return GRAFT_OK;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls, (void)build, (void)error;
    *instance = NULL;
    return GRAFT_OK;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class fused = {
    .struct_size = sizeof fused,
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .create = create,
    .forward = &vtable,
};

static const struct graft_class *make_fused_class(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error) {
    int64_t many = options->integer(options->data, "many");
    (void)self, (void)module;
    for (int64_t i = 0; i < many && i < 64; i++) {
        const struct graft_arg arg = graft_int_arg("many", i);
        const struct graft_args args = graft_args_of(&arg, 1);
        if (sink->arguments(sink->data, &args, error) != GRAFT_OK) {
            return NULL;
        }
    }
    return &fused;
}

static int make_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)config, (void)module, (void)options, (void)sink, (void)error;
    return GRAFT_OK;
}

static const char *const patterns[] = {"(^|\\.)(q|gate)_proj$", NULL};
static const struct graft_fusion_family family = {
    .struct_size = sizeof family,
    .name = "patch_embeddings",
    .description = "Linears of even size",
    .target_modules_patterns = patterns,
    .is_fusable = is_fusable,
    .make_fused_class = make_fused_class,
    .make_transforms = make_transforms,
};

static void build(struct graft_library *library, struct graft_model_config *config, struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    const struct graft_known_family *of = graft_snapshot_family(snapshot, config->model_type);
    const char *root = of != NULL ? graft_family_root(of->family, config->architecture) : NULL;
    const struct graft_fusion_source source = {config->file, GRAFT_ERROR_MODEL};
    struct graft_fusion_request request;
    struct graft_tree *tree = NULL;
    int status = graft_fusion_request_read(snapshot, graft_json_get(config->document, "fusion_config"), &source,
                                           &request, error);
    if (status != GRAFT_OK && error->message[0] == '\0') {
        abort();
    }
    if (status == GRAFT_OK && root != NULL) {
        graft_model_config_read_as(config, of->family);
        struct graft_tree_options options = {
            .config = config,
            .snapshot = snapshot,
            .fusion = &request,
            .class_name = root,
            .family = of,
        };
        if (graft_tree_build(&options, &tree, error) != GRAFT_OK && error->message[0] == '\0') {
            abort();
        }
    }
    graft_tree_free(tree);
    graft_fusion_request_finish(&request);
    graft_snapshot_release(snapshot);
}

/* One library for all inputs: making it reads the families, which takes longer than most inputs. */
static struct graft_library *library_get(void) {
    static struct graft_library *library;
    if (library == NULL && (graft_library_create(&library, NULL) != GRAFT_OK ||
                            graft_registry_add_fusion(library->registry, &family, NULL, NULL) != GRAFT_OK)) {
        abort();
    }
    return library;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = library_get();
    struct graft_model_config *config = NULL;
    (void)fuzz_file("config.json", bytes, size);
    if (graft_model_config_read(fuzz_folder(), NULL, &config, &error) == GRAFT_OK) {
        build(library, config, &error);
    } else if (error.message[0] == '\0') {
        abort();
    }
    graft_model_config_free(config);
    return 0;
}
