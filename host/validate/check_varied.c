/* SPDX-License-Identifier: Apache-2.0 */
/* What authors take for granted because tiny models are all alike: few tokens, short rows, two layers, weights in f32.
 * Each class of the plugin is run in one model that is larger, and in one with weights in bf16. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "graft/host/model.h"
#include "validate/checks.h"
#include "validate/culprit.h"
#include "weights/checkpoint.h"
#include "weights/safetensors_write.h"

/* The plugin's classes in the models so far; static because a check has a process of its own. */
static struct graft_text seen;

/* Whether the plugin has a class in this model that it had in none before. Remembers them. */
static int has_new_class(const struct graft_subject *subject) {
    const char *id = graft_library_plugin(subject->library, 0)->descriptor->id;
    const struct graft_named_module *module;
    int is_new = 0;
    for (size_t i = 0; (module = graft_model_module(subject->model, i)) != NULL; i++) {
        char *line = graft_format("\n%s\n", module->class_name);
        if (line != NULL && graft_module_is_plugins(module, id) &&
            (seen.length == 0 || strstr(seen.bytes, line) == NULL)) {
            graft_text_add_string(&seen, line);
            is_new = 1;
        }
        graft_free(line);
    }
    return is_new;
}

/* Compares the logits of a model in another directory with those of its original. */
static int compare(struct graft_subject *varied, const struct graft_prompt *prompt, struct graft_error *error) {
    int status = graft_subject_open(varied, 0, &varied->library, &varied->model, error);
    if (status == GRAFT_OK) {
        status = graft_compare_with_original(varied, prompt, error);
    }
    graft_subject_close(varied);
    return status;
}

/* Whether the plugin's classes take this model; they may refuse it. */
static int takes(struct graft_subject *varied) {
    struct graft_error refusal = graft_error_none();
    int is_taken = graft_subject_open(varied, 0, &varied->library, &varied->model, &refusal) == GRAFT_OK;
    graft_subject_close(varied);
    return is_taken;
}

/* Runs the calls of the varied model on guarded memory, and compares it with the original if `compares` is set. */
static int run(struct graft_subject *varied, const char *place, const struct graft_prompt *prompt, int compares,
               struct graft_error *error) {
    graft_validation_at(varied->validation, place);
    varied->model = NULL;
    varied->library = NULL;
    if (!takes(varied)) {
        return GRAFT_OK;
    }
    varied->model_type = place;
    int status = graft_check_bounds_of(varied, error);
    return status == GRAFT_OK && compares ? compare(varied, prompt, error) : status;
}

/* --- Larger models --- */

enum { LONG = 1100 }; /* tokens; tiny models have 1280 positions */

static int larger(struct graft_subject *subject, struct graft_error *error) {
    static const struct graft_tiny_sizes sizes = {.hidden = 64,
                                                  .heads = 8,
                                                  .kv_heads = 4,
                                                  .head_dim = 8,
                                                  .intermediate = 1100,
                                                  .experts = 4,
                                                  .vocab = 131,
                                                  .layers = 3};
    int32_t ids[LONG];
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = LONG};
    struct graft_subject varied = *subject;
    const char *architecture = graft_tiny_architecture(subject->model_type);
    if (!graft_subject_has_logits(subject) || !has_new_class(subject)) {
        return GRAFT_OK;
    }
    if (architecture == NULL || !graft_agrees(subject)) {
        return graft_subject_leave(subject, "there is no original that it agrees with");
    }
    for (int32_t i = 0; i < LONG; i++) {
        ids[i] = graft_validation_id(i);
    }
    varied.directory = graft_format("%s/.%s-larger", subject->validation->folder, subject->model_type);
    int status = varied.directory != NULL ? graft_tiny_write(subject->library, subject->model_type, architecture,
                                                             &sizes, varied.directory, error)
                                          : graft_fail_memory(error, subject->directory);
    char place[160];
    (void)snprintf(place, sizeof place, "%.60s with %d layers, rows of %d and %d tokens", subject->model_type,
                   sizes.layers, sizes.intermediate, LONG);
    if (status == GRAFT_OK) {
        status = run(&varied, place, &prompt, 1, error);
    }
    graft_free(varied.directory);
    return status;
}

int graft_check_larger(struct graft_validation *validation, struct graft_error *error) {
    return validation->model != NULL ? graft_validation_skip(validation, "the model was given, with the sizes it has")
                                     : graft_tiny_each(validation, larger, error);
}

/* --- Weights in bf16 --- */

/* Rounds the numbers of a tensor in f32 towards zero. The caller frees `data`. */
static int narrow(struct graft_tensor_view *view) {
    const size_t count = (size_t)view->bytes / sizeof(float);
    uint16_t *halves = graft_alloc(count, sizeof *halves);
    for (size_t i = 0; halves != NULL && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)view->data + i * sizeof bits, sizeof bits);
        halves[i] = (uint16_t)(bits >> 16);
    }
    view->data = halves;
    view->bytes = (int64_t)(count * sizeof *halves);
    view->dtype = GRAFT_DTYPE_BF16;
    return halves != NULL;
}

static int write_narrow(const struct graft_checkpoint *checkpoint, const char *path, struct graft_error *error) {
    const size_t count = graft_checkpoint_count(checkpoint);
    struct graft_tensor_view *views = graft_alloc(count, sizeof *views);
    size_t n = 0;
    int made = views != NULL;
    for (size_t i = 0; i < count && made; i++) {
        views[n] = *graft_checkpoint_at(checkpoint, i);
        made = narrow(&views[n]);
        n += (size_t)made;
    }
    int status = made ? graft_safetensors_write(path, views, n, NULL, error) : graft_fail_memory(error, path);
    for (size_t i = 0; i < n; i++) {
        graft_free((void *)(uintptr_t)views[i].data);
    }
    graft_free(views);
    return status;
}

/* Copies a tiny model, all of whose tensors are f32. */
static int copy_narrow(const struct graft_subject *subject, const char *directory, struct graft_error *error) {
    enum { MAX_BYTES = 1 << 20 };
    struct graft_checkpoint *checkpoint = NULL;
    char *from = graft_path_join(subject->directory, "config.json"),
         *config = graft_path_join(directory, "config.json");
    char *weights = graft_path_join(directory, "model.safetensors"), *text = NULL;
    size_t length = 0;
    int status = from != NULL && config != NULL && weights != NULL ? GRAFT_OK : graft_fail_memory(error, directory);
    if (status == GRAFT_OK && mkdir(directory, S_IRWXU) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, directory, "mkdir", errno);
    }
    if (status == GRAFT_OK) {
        status = graft_file_read(from, MAX_BYTES, GRAFT_ERROR_IO, &text, &length, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_file_piece piece = {text, length};
        status = graft_file_write_temporary(config, &piece, 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_checkpoint_open(subject->directory, &checkpoint, error);
    }
    if (status == GRAFT_OK) {
        status = write_narrow(checkpoint, weights, error);
    }
    graft_checkpoint_close(checkpoint);
    graft_free(text);
    graft_free(weights);
    graft_free(config);
    graft_free(from);
    return status;
}

static int narrowed(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    struct graft_subject varied = *subject;
    if (!graft_subject_has_logits(subject) || !has_new_class(subject)) {
        return GRAFT_OK;
    }
    char *place = graft_format("%s with weights in bf16", subject->model_type);
    varied.directory = graft_format("%s/.%s-bf16", subject->validation->folder, subject->model_type);
    int status = place != NULL && varied.directory != NULL ? copy_narrow(subject, varied.directory, error)
                                                           : graft_fail_memory(error, subject->directory);
    if (status == GRAFT_OK && subject->is_adapted) {
        status = graft_tiny_make_adapter(subject->library, varied.directory, error);
    }
    if (status == GRAFT_OK) {
        status = run(&varied, place, &prompt, graft_agrees(subject), error);
    }
    graft_free(varied.directory);
    graft_free(place);
    return status;
}

int graft_check_narrow(struct graft_validation *validation, struct graft_error *error) {
    return validation->model != NULL ? graft_validation_skip(validation, "the model was given, with the weights it has")
                                     : graft_tiny_each(validation, narrowed, error);
}
