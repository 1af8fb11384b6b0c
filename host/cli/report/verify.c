/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/json_writer.h"
#include "cli/commands/verify.h"
#include "cli/output.h"
#include "cli/report/stack.h"

/* The mean duration of a call in milliseconds. */
static double per_call(const struct graft_compared *module, double seconds) {
    return module->calls > 0 ? seconds * 1e3 / (double)module->calls : 0.0;
}

static const char *reason(const struct graft_compared *module) {
    return module->reason == NULL && module->calls == 0 ? "not called for this prompt" : module->reason;
}

static void print_module(const struct graft_compared *module, const char *stack) {
    (void)printf("%s: %s: ", module->module->path, stack);
    if (reason(module) != NULL) {
        (void)printf("not compared: %s\n", reason(module));
        return;
    }
    (void)printf("largest difference %.3g (values up to %.3g); %.3f ms, original %.3f ms; %.3f MB, original %.3f MB\n",
                 module->outputs.difference, module->outputs.value, per_call(module, module->seconds),
                 per_call(module, module->original_seconds), (double)module->bytes / 1e6,
                 (double)module->original_bytes / 1e6);
}

static int print_modules(const struct graft_verification *run, struct graft_error *error) {
    const struct graft_compared *module;
    int failed = 0;
    for (size_t i = 0; !failed && (module = graft_comparison_at(run->modules, i)) != NULL; i++) {
        struct graft_text stack = {0};
        graft_report_stack(&stack, module->module, 0);
        failed = stack.failed;
        if (!failed) {
            print_module(module, stack.bytes);
        }
        graft_text_free(&stack);
    }
    return failed ? graft_fail_memory(error, "verify") : GRAFT_OK;
}

static void print_outputs(const struct graft_verification *run) {
    (void)printf("%s: largest difference %.3g (values up to %.3g) over %lld positions", graft_verification_outputs(run),
                 run->logits.difference, run->logits.value, (long long)run->positions);
    if (run->tolerance >= 0.0) {
        (void)printf(", at most %.3g allowed (tolerance %g)", graft_verification_limit(run), run->tolerance);
    }
    (void)printf("\n");
    if (graft_verification_generates(run)) {
        (void)printf("greedy ids: %s, %lld tokens per sequence\n", run->same_ids ? "the same" : "different",
                     (long long)run->new_tokens);
    }
}

static graft_json *module_json(struct graft_writer *writer, const struct graft_compared *module) {
    graft_json *object = graft_json_new_object();
    int compared = reason(module) == NULL;
    graft_writer_set_string(writer, object, "path", module->module->path);
    graft_writer_set_string(writer, object, "class", module->module->class_name);
    graft_writer_set_string(writer, object, "original_class", module->module->original_class);
    graft_writer_set_string(writer, object, "plugin", module->module->plugin);
    graft_writer_set_bool(writer, object, "compared", compared);
    graft_writer_set_string(writer, object, "reason", reason(module));
    graft_writer_set_int(writer, object, "calls", module->calls);
    if (compared) {
        graft_writer_set_real(writer, object, "largest_difference", module->outputs.difference);
        graft_writer_set_real(writer, object, "largest_value", module->outputs.value);
        graft_writer_set_real(writer, object, "milliseconds", per_call(module, module->seconds));
        graft_writer_set_real(writer, object, "original_milliseconds", per_call(module, module->original_seconds));
    }
    graft_writer_set_int(writer, object, "bytes", module->bytes);
    graft_writer_set_int(writer, object, "original_bytes", module->original_bytes);
    return object;
}

static graft_json *ids_json(struct graft_writer *writer, const struct graft_ids *ids) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < ids->n; i++) {
        graft_writer_append(writer, array, graft_json_new_int(ids->ids[i]));
    }
    return array;
}

static graft_json *greedy_json(struct graft_writer *writer, const struct graft_verification *run) {
    graft_json *object = graft_json_new_object();
    graft_json *sequences = graft_json_new_array();
    for (size_t i = 0; run->ids != NULL && i < run->prompts.count; i++) {
        graft_json *sequence = graft_json_new_object();
        graft_writer_set(writer, sequence, "ids", ids_json(writer, &run->ids[i]));
        graft_writer_set(writer, sequence, "original_ids", ids_json(writer, &run->original_ids[i]));
        graft_writer_append(writer, sequences, sequence);
    }
    graft_writer_set_int(writer, object, "new_tokens", run->new_tokens);
    graft_writer_set_bool(writer, object, "same", run->same_ids);
    graft_writer_set(writer, object, "sequences", sequences);
    return object;
}

static graft_json *document(struct graft_writer *writer, const struct graft_verification *run) {
    graft_json *object = graft_json_new_object();
    graft_json *modules = graft_json_new_array();
    graft_json *logits = graft_json_new_object();
    const struct graft_compared *module;
    for (size_t i = 0; (module = graft_comparison_at(run->modules, i)) != NULL; i++) {
        graft_writer_append(writer, modules, module_json(writer, module));
    }
    graft_writer_set_int(writer, logits, "positions", run->positions);
    graft_writer_set_real(writer, logits, "largest_difference", run->logits.difference);
    graft_writer_set_real(writer, logits, "largest_value", run->logits.value);
    graft_writer_set(writer, logits, "tolerance",
                     run->tolerance >= 0.0 ? graft_json_new_real(run->tolerance) : graft_json_new_string(NULL));
    graft_writer_set(writer, logits, "largest_allowed",
                     run->tolerance >= 0.0 ? graft_json_new_real(graft_verification_limit(run))
                                           : graft_json_new_string(NULL));
    graft_writer_set_string(writer, object, "against", run->against);
    graft_writer_set(writer, object, "modules", modules);
    graft_writer_set(writer, object, graft_verification_outputs(run), logits);
    if (graft_verification_generates(run)) {
        graft_writer_set(writer, object, "greedy", greedy_json(writer, run));
    }
    graft_writer_set_bool(writer, object, "passed", graft_verification_passed(run));
    return object;
}

int graft_verify_report(const struct graft_options *options, const struct graft_verification *run,
                        struct graft_error *error) {
    struct graft_writer writer = {0};
    if (!options->json) {
        int status = print_modules(run, error);
        if (status != GRAFT_OK) {
            return status;
        }
        print_outputs(run);
        return graft_output_flush(stdout, error);
    }
    graft_json *object = document(&writer, run);
    int status = writer.failed ? graft_fail_memory(error, "verify") : graft_output_json(object, stdout, 1, error);
    graft_json_free(object);
    return status;
}
