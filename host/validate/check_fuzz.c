/* SPDX-License-Identifier: Apache-2.0 */
/* Tries models of random sizes, as many as asked for. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "validate/compare.h"

static unsigned draw(uint64_t *state, unsigned below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33) % below;
}

static struct graft_tiny_sizes draw_sizes(uint64_t *state) {
    struct graft_tiny_sizes sizes = {.kv_heads = 1 + (int)draw(state, 3),
                                     .head_dim = 6 + 2 * (int)draw(state, 6),
                                     .intermediate = 2 * (1 + (int)draw(state, 40)),
                                     .experts = 2 + (int)draw(state, 5),
                                     .vocab = 94 + (int)draw(state, 40),
                                     .layers = 1 + (int)draw(state, 3)};
    sizes.heads = sizes.kv_heads * (1 + (int)draw(state, 3));
    sizes.hidden = sizes.heads * sizes.head_dim;
    return sizes;
}

/* The architecture for a model type: from our own table, or from the family that the plugin brings. */
static const char *find_architecture(const struct graft_subject *subject) {
    const struct graft_plugin *plugin = graft_library_plugin(subject->library, 0)->descriptor;
    const char *architecture = graft_tiny_architecture(subject->model_type);
    for (int32_t i = 0; i < plugin->n_families && architecture == NULL; i++) {
        const struct graft_family *family = graft_plugin_family(plugin, i);
        if (strcmp(family->model_type, subject->model_type) == 0) {
            architecture = graft_family_architecture(family, 0)->name;
        }
    }
    return architecture;
}

/* Compares with the original. Without one, checks that a repeated run and a batch give the same logits. */
static int compare(const struct graft_subject *varied, struct graft_model *original, struct graft_error *error) {
    int is_alone = original == NULL || varied->is_lossy || varied->is_on_request || varied->is_adapted;
    int status = graft_same_logits(varied, is_alone ? varied->model : original, varied->model,
                                   is_alone ? "logits of the same prompt twice" : "logits with it and without",
                                   is_alone ? 0.0 : GRAFT_VALIDATION_TOLERANCE, error);
    return status == GRAFT_OK && original == NULL ? graft_same_in_batch(varied, varied->model, error) : status;
}

/* Makes the model in FOLDER/NAME, loads it with the plugin and without, and compares. A model type of the plugin's own
 * may refuse the sizes: `*refused` then says why. */
static int try_model(struct graft_subject *varied, const struct graft_tiny_sizes *sizes, const char *name,
                     struct graft_error *refused, struct graft_error *error) {
    struct graft_error own = graft_error_none();
    const struct graft_subject *of = varied;
    struct graft_library *library = NULL, *originals = NULL;
    struct graft_model *original = NULL;
    int status = graft_tiny_make(of->validation, of->library, of->model_type, find_architecture(of), sizes, name, &own);
    if (status == GRAFT_OK) {
        status = graft_subject_open(varied, 0, &library, &varied->model, &own);
    }
    if (status == GRAFT_OK && !varied->is_own_type) {
        status = graft_subject_open(varied, 1, &originals, &original, &own);
    }
    int may_refuse = varied->is_own_type && (status == GRAFT_ERROR_MODEL || sizes->kv_heads != sizes->heads);
    if (status != GRAFT_OK && may_refuse && own.message[0] != '\0') {
        *refused = own;
        status = GRAFT_OK;
    } else if (status != GRAFT_OK) {
        (void)graft_error_set(error, status, own.source, "%s", own.message);
    } else if (graft_has_logits(varied->model)) {
        status = compare(varied, original, error);
    }
    graft_model_free(original);
    graft_library_free(originals);
    graft_model_free(varied->model);
    graft_library_free(library);
    return status;
}

static int try_sizes(struct graft_subject *subject, const struct graft_tiny_sizes *sizes, int number,
                     struct graft_error *refused, struct graft_error *error) {
    char name[96], place[250];
    const char *type = subject->model_type;
    (void)snprintf(name, sizeof name, ".fuzz-%.40s-%d-%d", type, number, sizes->kv_heads);
    (void)snprintf(place, sizeof place,
                   "%.40s number %d (hidden %d, heads %d/%d, intermediate %d, experts %d, layers %d)", type, number,
                   sizes->hidden, sizes->heads, sizes->kv_heads, sizes->intermediate, sizes->experts, sizes->layers);
    graft_validation_at(subject->validation, place);
    struct graft_subject varied = {.validation = subject->validation,
                                   .model_type = type,
                                   .library = subject->library,
                                   .is_own_type = subject->is_own_type,
                                   .is_lossy = subject->is_lossy,
                                   .is_on_request = subject->is_on_request,
                                   .is_adapted = subject->is_adapted};
    varied.directory = graft_path_join(subject->validation->folder, name);
    int status =
        varied.directory != NULL ? try_model(&varied, sizes, name, refused, error) : graft_fail_memory(error, type);
    if (varied.directory != NULL) {
        graft_folder_remove(varied.directory); /* thousands of models may follow */
    }
    graft_free(varied.directory);
    return status;
}

/* Tries one random model. For a type of the plugin's own, a second try has as many kv heads as heads. */
static int try_number(struct graft_subject *subject, uint64_t *state, int number, struct graft_error *refused,
                      struct graft_error *error) {
    struct graft_tiny_sizes sizes = draw_sizes(state);
    *refused = graft_error_none();
    int status = try_sizes(subject, &sizes, number, refused, error);
    if (status == GRAFT_OK && refused->code != GRAFT_OK && sizes.kv_heads != sizes.heads) {
        sizes.kv_heads = sizes.heads;
        *refused = graft_error_none();
        status = try_sizes(subject, &sizes, number, refused, error);
    }
    return status;
}

/* Tries as many models as asked for. A type of the plugin's own may refuse some sizes, so more may be drawn. */
static int vary(struct graft_subject *subject, struct graft_error *error) {
    enum { DRAWS = 20 };
    static struct graft_error refused; /* subject->left points to its message until the caller has copied it */
    const int64_t wanted = subject->validation->fuzz;
    uint64_t state = 1;
    int64_t made = 0;
    int status = GRAFT_OK;
    for (int64_t i = 0; made < wanted && i / DRAWS < wanted && status == GRAFT_OK; i++) {
        status = try_number(subject, &state, (int)i, &refused, error);
        made += refused.code == GRAFT_OK;
    }
    if (status == GRAFT_OK && made == 0) {
        return graft_subject_leave(subject, refused.message);
    }
    return status == GRAFT_OK && !graft_has_logits(subject->model)
               ? graft_subject_leave(subject, "an encoder, which is loaded and computes no logits of tokens")
               : status;
}

static int check_sizes(struct graft_validation *validation, struct graft_error *error) {
    if (validation->model != NULL) {
        return graft_validation_skip(validation, "the model was given, with the sizes that it has");
    }
    return validation->fuzz > 0 ? graft_tiny_each(validation, vary, error)
                                : graft_validation_skip(validation, "no models of random sizes were asked for");
}

const struct graft_validation_check graft_fuzz_checks[] = {
    GRAFT_CHECK("fuzz.sizes",
                "models of random sizes give the same with it and without; those of its own types give the same alone "
                "and in batches",
                check_sizes),
    {{0}, NULL, 0},
};
