/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that crashes at the place and in the way that its options name, or returns NaN, or changes the rounding
 * mode. */
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/fusion.h"
#include "graft/mlp.h"
#include "graft/option.h"
#include "graft/plugin.h"
#include "graft/quantization.h"

static const struct graft_plugin plugin;
static const struct graft_host *the_host;

/* Overwrites a file that is in use, as installing a new version in place does. */
static void overwrite(const char *file) {
    FILE *stream = fopen(file, "wb");
    if (stream != NULL) {
        (void)fclose(stream);
    }
}

/* Recurses until the stack overflows. */
static int overflow_stack(volatile const char *outer, int depth) {
    volatile char room[4096];
    room[0] = outer != NULL ? outer[0] : 'x';
    return depth < 1 << 20 ? overflow_stack(room, depth + 1) + room[1] : 0;
}

static const struct {
    const char *how;
    int number;
} sent[] = {{"illegal", SIGILL}, {"bus", SIGBUS}, {"division", SIGFPE}};

static void crash(const char *where) {
    const struct graft_args *options = the_host->options(&plugin);
    const char *how = graft_args_string(options, "how", "");
    static volatile int *nowhere;
    if (strcmp(graft_args_string(options, "where", ""), where) != 0) {
        return;
    }
    if (strcmp(how, "abort") == 0) {
        abort();
    }
    if (strcmp(how, "exit") == 0) {
        exit(0);
    }
    if (strcmp(how, "rounding") == 0) {
        (void)fesetround(FE_UPWARD);
        return;
    }
    if (strcmp(how, "overwrite") == 0) {
        overwrite(graft_args_string(options, "file", ""));
        return;
    }
    if (strcmp(how, "stack") == 0) {
        (void)overflow_stack(NULL, 0);
    }
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        if (strcmp(how, sent[i].how) == 0) {
            (void)raise(sent[i].number);
        }
    }
    *nowhere = 1;
}

static int start(struct graft_error *error) {
    (void)error;
    crash("init");
    return GRAFT_OK;
}

static void stop(void) {
    crash("deinit");
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args, (void)sink, (void)error;
    crash("describe");
    return GRAFT_OK;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls, (void)error;
    crash("create");
    *instance = (void *)(uintptr_t)build->super;
    return GRAFT_OK;
}

static void destroy(void *instance) {
    (void)instance;
    crash("destroy");
}

static void body(void *data, int64_t begin, int64_t end) {
    (void)data, (void)begin;
    crash("workers");
    if (end == 64) { /* the last part, which runs on a helping thread if there is one */
        crash("worker");
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    crash("forward");
    call->threads->parallel_for(64, 1, body, NULL);
    int status = graft_mlp_forward((const struct graft_module *)instance, call, args, error);
    crash("after");
    if (strcmp(graft_args_string(the_host->options(&plugin), "where", ""), "nan") == 0) {
        args->output[3] = NAN;
    }
    return status;
}

static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class cls = {.struct_size = sizeof cls,
                                       .name = "CrashingMLP",
                                       .interface_id = GRAFT_INTERFACE_MLP,
                                       .flags = GRAFT_CLASS_CALLS_SUPER,
                                       .describe = describe,
                                       .create = create,
                                       .destroy = destroy,
                                       .forward = &vtable};

static int is_fusable(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error) {
    (void)self, (void)module, (void)options, (void)error;
    verdict->fusable = strcmp(module->path, "model.layers.1.mlp") == 0;
    if (verdict->fusable) {
        crash("is_fusable");
    }
    return GRAFT_OK;
}

static const struct graft_class *make_fused_class(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)module, (void)options, (void)sink, (void)error;
    crash("make_fused_class");
    return &cls;
}

static int make_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)config, (void)module, (void)options, (void)sink, (void)error;
    crash("make_transforms");
    return GRAFT_OK;
}

static int shape(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error) {
    (void)self, (void)error;
    crash("shape");
    shapes->stays = 1;
    return GRAFT_OK;
}

static int32_t quantize(const struct graft_quantization *self, const struct graft_quantize_work *work) {
    (void)self, (void)work;
    return 0;
}

static const void *get_extension(const char *id) {
    (void)id;
    crash("get_extension");
    return &plugin;
}

static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_NAME,
                                                     .target = "LlamaMLP",
                                                     .module_path = "layers\\.1\\.",
                                                     .replacement = &cls};
static const char *const weights[] = {"weight", NULL}, *const tensors[] = {"codes", NULL},
                         *const methods[] = {"crash", NULL}, *const extensions[] = {"crash_probe.crash/1", NULL};
static const struct graft_quantization quantization = {.struct_size = sizeof quantization,
                                                       .name = "crash",
                                                       .config = "{\"quant_method\": \"crash\"}",
                                                       .module = "Linear",
                                                       .weights = weights,
                                                       .tensors = tensors,
                                                       .row_step = 1,
                                                       .shape = shape,
                                                       .quantize = quantize};
static const struct graft_fusion_family family = {.struct_size = sizeof family,
                                                  .name = "crashing",
                                                  .description = "Crashes",
                                                  .is_fusable = is_fusable,
                                                  .make_fused_class = make_fused_class,
                                                  .make_transforms = make_transforms};
static const struct graft_option options[] = {
    {sizeof options[0], GRAFT_OPTION_STRING, "where", "The function that crashes", "forward", NULL},
    {sizeof options[0], GRAFT_OPTION_STRING, "how",
     "segv, abort, exit, stack, illegal, bus, division, rounding or overwrite", "segv", NULL},
    {sizeof options[0], GRAFT_OPTION_STRING, "file", "What is overwritten", "", NULL}};
static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "crash_probe",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Crashes",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .options = options,
    .n_options = 3,
    .option_stride = sizeof options[0],
    .fusion_families = &family,
    .n_fusion_families = 1,
    .fusion_family_stride = sizeof family,
    .quant_methods = methods,
    .quantizations = &quantization,
    .n_quantizations = 1,
    .quantization_stride = sizeof quantization,
    .offers_extensions = extensions,
    .get_extension = get_extension,
    .init = start,
    .deinit = stop,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)error;
    the_host = host;
    return &plugin;
}
