/* SPDX-License-Identifier: Apache-2.0 */
/* Loads LoraLinear: for each part of the layer, the matrices of each adapter. With the option `merge` and a single
 * adapter it adds their product to the weight. */
#include "linear.h"

#include <stdlib.h>

#include "adapters.h"
#include "graft/describe.h"
#include "lora.h"
#include "model_weight.h"
#include "stored.h"

static int32_t merging;
static const struct graft_threads *threads;

void lora_set_merging(int32_t merges, const struct graft_threads *given) {
    merging = merges;
    threads = given;
}

static int merges(const struct graft_config *config) {
    return merging && lora_count(config) == 1;
}

/* What `describe` keeps for `create`. */
struct found {
    char child[LORA_CHILD_NAME];
    int32_t kind; /* LORA_PAIR, LORA_WHOLE or LORA_SCALE */
    int32_t of_inputs;
    int32_t adapter;
    int64_t first;
    int64_t outputs;
};

struct description {
    int64_t n;
    struct found found[]; /* [n], followed by the memory of lora_describe_weight */
};

static int describe_child(const struct graft_sink *sink, const struct lora_adapter *adapter,
                          const struct graft_part_info *part, const struct graft_args *given,
                          struct graft_error *error) {
    const struct graft_arg args[] = {
        graft_int_arg("in_features", graft_args_int(given, "in_features", 0)),
        graft_int_arg("out_features", part->outputs),
        graft_int_arg("bias", adapter->kind == LORA_WHOLE ? graft_args_int(given, "bias", 1) : 0),
        graft_int_arg("rank", adapter->rank),
        graft_real_arg("factor", adapter->factor),
        graft_int_arg("magnitude", adapter->has_magnitude),
        graft_int_arg("lora_bias", adapter->has_bias),
        graft_int_arg("method", adapter->made.method),
        graft_int_arg("unit_1", adapter->made.unit[0]),
        graft_int_arg("unit_2", adapter->made.unit[1]),
    };
    const struct graft_arg scale[] = {
        graft_int_arg("features", adapter->of_inputs ? graft_args_int(given, "in_features", 0) : part->outputs),
        graft_int_arg("of_inputs", adapter->of_inputs),
        graft_real_arg("factor", adapter->factor),
    };
    if (adapter->kind == LORA_SCALE) {
        return graft_describe_child(sink, adapter->child, lora_scale_class.name, LORA_INTERFACE_SCALE, scale, 3, error);
    }
    if (adapter->kind == LORA_PAIR) {
        return graft_describe_child(sink, adapter->child, lora_pair_class.name, GRAFT_INTERFACE_LINEAR, args,
                                    sizeof args / sizeof args[0], error);
    }
    graft_describe_child(sink, adapter->child, "Linear", GRAFT_INTERFACE_LINEAR, args, 3, error);
    return lora_describe_whole(sink, adapter->child, error);
}

static int describe_part(const struct graft_config *config, const struct graft_args *args,
                         const struct graft_sink *sink, const struct graft_part_info *part,
                         struct description *description, struct graft_error *error) {
    const struct lora_place place = {part->name, part->path, part->outputs};
    int32_t n_whole = 0;
    for (int64_t i = 0; i < lora_count(config); i++) {
        struct lora_adapter adapter;
        lora_read(config, sink, i, &place, &adapter, error);
        if (error->code != GRAFT_OK || adapter.kind == LORA_NOTHING || adapter.kind == LORA_EMBEDDING) {
            continue;
        }
        if (adapter.kind == LORA_SCALE && adapter.of_inputs && part->name[0] != '\0') {
            return graft_error_set(
                error, GRAFT_ERROR_MODEL, part->path,
                "ia3_l is for the inputs of this projection alone, and a plugin has joined it with others");
        }
        struct found *found = &description->found[description->n++];
        *found = (struct found){.kind = adapter.kind,
                                .of_inputs = adapter.of_inputs,
                                .adapter = (int32_t)i,
                                .first = part->first,
                                .outputs = part->outputs};
        memcpy(found->child, adapter.child, sizeof found->child);
        describe_child(sink, &adapter, part, args, error);
        n_whole += adapter.kind == LORA_WHOLE;
        if (n_whole > 1) {
            graft_error_set(error, GRAFT_ERROR_MODEL, part->path,
                            "two adapters store this module whole (modules_to_save): load one of them");
        }
    }
    return error->code;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_part_info part = {.struct_size = sizeof part};
    int32_t parts = 0;
    (void)cls;
    while (sink->part(sink->data, parts, &part)) {
        parts++;
    }
    const int64_t most = parts * lora_count(config);
    const int64_t bytes = (int64_t)sizeof(struct description) + most * (int64_t)sizeof(struct found);
    struct description *description = sink->keep(sink->data, bytes + lora_weight_bytes(config, sink), error);
    if (description == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t i = 0; i < parts; i++) {
        (void)sink->part(sink->data, i, &part);
        describe_part(config, args, sink, &part, description, error);
    }
    lora_describe_weight(config, sink, (int64_t *)(void *)(description->found + most), error);
    if (!merges(config)) {
        lora_describe_by_row(sink, error);
    }
    return error->code;
}

/* Reads what a piece adds to the original's rows; 0 if it is not a pair of products. */
static int read_delta(const struct lora_piece *piece, struct lora_delta *delta) {
    if (piece->pair == NULL || piece->pair->bias != NULL || !lora_pair_products(piece->pair, &delta->a, &delta->b)) {
        return 0;
    }
    delta->factor = piece->pair->factor;
    delta->first = piece->first;
    delta->scale = piece->magnitude.scale;
    return 1;
}

/* Merges the pairs with the weight. Does nothing unless all pieces are pairs, and these and the original are products.
 */
static int merge(struct lora_linear *self, const char *path, struct graft_error *error) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    struct graft_product original;
    struct lora_delta *deltas = calloc((size_t)self->n, sizeof *deltas);
    if (deltas == NULL) {
        return graft_fail_memory(error, path);
    }
    int mergeable = graft_linear_as_product(self->original, &none, &original);
    for (int32_t i = 0; i < self->n && mergeable; i++) {
        mergeable = read_delta(&self->pieces[i], &deltas[i]);
    }
    int status = mergeable ? lora_merge(&original, deltas, self->n, threads, path, &self->merged, error) : GRAFT_OK;
    free(deltas);
    return status;
}

static int find_magnitude(const struct lora_linear *self, const struct graft_build *build, struct lora_piece *piece,
                          struct graft_error *error) {
    const struct graft_weight *m = piece->pair->magnitude;
    /* with a share of the inputs, norms would be too small */
    const int is_whole = graft_args_int(build->args, "whole_in_features", self->in_features) == self->in_features;
    struct graft_product base;
    struct lora_delta delta;
    if (!is_whole || !lora_base_open(self->original, &base) || !read_delta(piece, &delta) ||
        !lora_are_floats(delta.a.weight) || !lora_are_floats(delta.b.weight) || !lora_are_floats(m)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                               "use_dora: the norms of the weight's rows are not known");
    }
    return lora_magnitude_make(&base, &delta, m, threads, build->path, &piece->magnitude, error);
}

/* Computes the magnitudes of each pair of DoRA, and those of each pair whose lora_B has a bias. */
static int find_magnitudes(struct lora_linear *self, const struct graft_build *build, struct graft_error *error) {
    for (int32_t i = 0; i < self->n && error->code == GRAFT_OK; i++) {
        struct lora_piece *piece = &self->pieces[i];
        if (piece->pair != NULL && piece->pair->magnitude != NULL) {
            find_magnitude(self, build, piece, error);
        } else if (piece->pair != NULL && piece->pair->bias != NULL) {
            lora_magnitude_of_bias(piece->pair->bias, piece->pair->factor, build->path, &piece->magnitude, error);
        }
    }
    return error->code;
}

static void destroy(void *instance) {
    struct lora_linear *self = instance;
    lora_merged_finish(&self->merged);
    for (int32_t i = 0; i < self->n; i++) {
        lora_magnitude_finish(&self->pieces[i].magnitude);
    }
    free(self->pieces);
    free(self);
}

/* Adds the pieces of one kind, in the order in which they were described. */
static int add_pieces(struct lora_linear *self, const struct graft_build *build, int32_t kind,
                      struct graft_error *error) {
    const struct description *description = build->kept;
    for (int64_t i = 0; i < description->n && error->code == GRAFT_OK; i++) {
        const struct found *found = &description->found[i];
        if (found->kind == kind) {
            const struct graft_module *module = graft_build_child(build, found->child, error);
            self->pieces[self->n++] = (struct lora_piece){
                .module = module,
                .pair = kind == LORA_PAIR && error->code == GRAFT_OK ? lora_pair_of(module) : NULL,
                .scales = kind != LORA_SCALE ? 0
                          : found->of_inputs ? 2
                                             : 1,
                .adapter = found->adapter,
                .first = found->first,
                .outputs = found->outputs,
            };
        }
    }
    return error->code;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct description *description = build->kept;
    struct lora_linear *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL || (self->pieces = calloc((size_t)description->n + 1, sizeof *self->pieces)) == NULL) {
        free(self);
        return graft_fail_memory(error, build->path);
    }
    self->original = build->super;
    self->in_features = graft_args_int(build->args, "in_features", 0);
    self->out_features = graft_args_int(build->args, "out_features", 0);
    add_pieces(self, build, LORA_WHOLE, error);
    self->n_whole = self->n;
    add_pieces(self, build, LORA_PAIR, error);
    self->n_scales = -self->n;
    add_pieces(self, build, LORA_SCALE, error);
    self->n_scales += self->n;
    find_magnitudes(self, build, error);
    if (error->code == GRAFT_OK && merges(build->config) && self->n > 0) {
        merge(self, build->path, error);
    }
    if (error->code != GRAFT_OK) {
        destroy(self);
        return error->code;
    }
    *instance = self;
    return GRAFT_OK;
}

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .forward = lora_linear_forward, .as_product = lora_linear_as_product};

const struct graft_class lora_linear_class = {
    .struct_size = sizeof lora_linear_class,
    .flags = GRAFT_CLASS_CALLS_SUPER | GRAFT_CLASS_TAKES_PARTS,
    .name = "LoraLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};
