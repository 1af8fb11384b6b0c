/* SPDX-License-Identifier: Apache-2.0 */
/* Models of random sizes, as many as are asked for. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
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

/* One model of a type: made, loaded both ways, and compared. */
static int try_sizes(struct graft_subject *subject, const struct graft_tiny_sizes *sizes, int number,
                     struct graft_error *error) {
    const char *architecture = NULL, *type = NULL;
    char name[96], place[250];
    for (size_t i = 0; (type = graft_tiny_type(i, &architecture)) != NULL; i++) {
        if (strcmp(type, subject->model_type) == 0) {
            break;
        }
    }
    if (type == NULL) {
        return graft_subject_leave(subject, "the model type is its own");
    }
    (void)snprintf(name, sizeof name, ".fuzz-%.40s-%d", type, number);
    (void)snprintf(place, sizeof place,
                   "%.40s number %d (hidden %d, heads %d/%d, intermediate %d, experts %d, layers %d)", type, number,
                   sizes->hidden, sizes->heads, sizes->kv_heads, sizes->intermediate, sizes->experts, sizes->layers);
    graft_validation_at(subject->validation, place);
    struct graft_subject varied = {
        .validation = subject->validation, .model_type = type, .is_lossy = subject->is_lossy};
    varied.directory = graft_path_join(subject->validation->folder, name);
    int status = varied.directory != NULL
                     ? graft_tiny_make(subject->validation, subject->library, type, architecture, sizes, name, error)
                     : graft_fail_memory(error, type);
    if (status == GRAFT_OK) {
        status = graft_subject_open(&varied, 0, &varied.library, &varied.model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_subject_open(&varied, 1, &varied.originals, &varied.original, error);
    }
    if (status == GRAFT_OK && graft_has_logits(varied.model)) {
        status = graft_same_logits(&varied, varied.is_lossy ? varied.model : varied.original, varied.model,
                                   "logits with it and without", GRAFT_VALIDATION_TOLERANCE, error);
    }
    graft_model_free(varied.original);
    graft_library_free(varied.originals);
    graft_model_free(varied.model);
    graft_library_free(varied.library);
    graft_free(varied.directory);
    return status;
}

static int vary(struct graft_subject *subject, struct graft_error *error) {
    uint64_t state = 1;
    int status = GRAFT_OK;
    for (int64_t i = 0; i < subject->validation->fuzz && status == GRAFT_OK; i++) {
        struct graft_tiny_sizes sizes = draw_sizes(&state);
        status = try_sizes(subject, &sizes, (int)i, error);
    }
    return status;
}

static int check_sizes(struct graft_validation *validation, struct graft_error *error) {
    return validation->fuzz > 0 ? graft_tiny_each(validation, vary, error)
                                : graft_validation_skip(validation, "no models of random sizes were asked for");
}

const struct graft_validation_check graft_fuzz_checks[] = {
    GRAFT_CHECK("fuzz.sizes", "models of random sizes give the same with it and without", check_sizes),
    {{0}, NULL},
};
