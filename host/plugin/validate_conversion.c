/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graft/tensor.h"
#include "plugin/validate.h"
#include "value/operations.h"

enum { MAX_NAMES = 1024, MAX_OPERATIONS = 64, LAST_KIND = GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS };

/* The values along a chain of operations. */
struct chain {
    int32_t values;
    int32_t n_targets;
    int star_in_sources;
    int star_in_targets;
};

static int is_listed(const char *name) {
    return strchr(name, '*') != NULL;
}

/* Validates a name below the module, component by component. A `*` is a whole component and occurs at most once. */
static int validate_name(const struct graft_place *place, const char *name, struct graft_error *error) {
    int stars = 0;
    int status = graft_check_text(place, NULL, name, GRAFT_MAX_NAME, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (const char *part = name;;) {
        size_t length = strcspn(part, ".");
        if (length == 0) {
            return graft_check_failed(place, NULL, error,
                                      "expected a name relative to the module, without empty parts,"
                                      " got \"%s\"",
                                      name);
        }
        if (memchr(part, '*', length) != NULL) {
            stars++;
            if (length > 1 || stars > 1) {
                return graft_check_failed(place, NULL, error, "expected at most one * that is a whole part, got \"%s\"",
                                          name);
            }
        }
        if (part[length] == '\0') {
            return GRAFT_OK;
        }
        part += length + 1;
    }
}

static int validate_names(const struct graft_place *place, const struct graft_array *array, int *listed,
                          struct graft_error *error) {
    int status = graft_check_array(place, array, error);
    const char *const *names = array->items;
    for (int32_t i = 0; i < array->count && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = array->field, .index = i};
        status = validate_name(&element, names[i], error);
        *listed |= status == GRAFT_OK && is_listed(names[i]);
    }
    return status;
}

static int validate_dim(const struct graft_place *place, const char *field, int64_t dim, struct graft_error *error) {
    return dim >= -GRAFT_MAX_RANK && dim < GRAFT_MAX_RANK
               ? GRAFT_OK
               : graft_check_failed(place, field, error, "expected %d to %d, got %lld", -GRAFT_MAX_RANK,
                                    GRAFT_MAX_RANK - 1, (long long)dim);
}

static int validate_custom(const struct graft_place *place, const struct graft_custom_operation *custom,
                           struct graft_error *error) {
    const struct graft_place inner = {.parent = place, .field = "custom", .index = -1};
    return custom != NULL ? graft_custom_operation_validate(&inner, custom, error)
                          : graft_check_failed(place, "custom", error, "expected an operation, got NULL");
}

static int validate_conv3d(const struct graft_place *place, const struct graft_operation *operation,
                           struct graft_error *error) {
    for (int i = 0; i < 3; i++) {
        if (operation->kernel_size[i] < 1) {
            return graft_check_failed(place, "kernel_size", error, "expected three numbers above 0, number %d is %lld",
                                      i, (long long)operation->kernel_size[i]);
        }
    }
    return operation->in_channels >= 1
               ? GRAFT_OK
               : graft_check_failed(place, "in_channels", error, "expected a number above 0, got %lld",
                                    (long long)operation->in_channels);
}

static int validate_slice(const struct graft_place *place, const struct graft_operation *operation,
                          struct graft_error *error) {
    if (operation->begin < 0 || operation->length < 1 || operation->begin > INT64_MAX - operation->length) {
        return graft_check_failed(
            place, "begin", error,
            "expected a Slice with a length of at least 1 and a begin of at least 0, got %lld and %lld",
            (long long)operation->length, (long long)operation->begin);
    }
    for (int i = 0; i < GRAFT_SLICE_PARTS; i++) {
        if (operation->parts[i] < 0 || operation->parts[i] > INT32_MAX) {
            return graft_check_failed(place, "parts", error, "expected 0 to %ld, got %lld", (long)INT32_MAX,
                                      (long long)operation->parts[i]);
        }
    }
    int fits = operation->of == 0 || operation->begin + operation->length <= operation->of;
    return fits ? GRAFT_OK
                : graft_check_failed(place, "of", error, "expected 0, or %lld and more, got %lld",
                                     (long long)(operation->begin + operation->length), (long long)operation->of);
}

/* Validates the members that one kind of operation needs. */
static int validate_fields(const struct graft_place *place, const struct graft_operation *operation,
                           struct graft_error *error) {
    int status = validate_dim(place, "dim", operation->dim, error);
    if (status != GRAFT_OK) {
        return status;
    }
    switch (operation->kind) {
    case GRAFT_OP_TRANSPOSE:
    case GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS:
    case GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS:
        return validate_dim(place, "dim1", operation->dim1, error);
    case GRAFT_OP_LINEAR_TO_CONV3D:
        return validate_conv3d(place, operation, error);
    case GRAFT_OP_CUSTOM:
        return validate_custom(place, operation->custom, error);
    case GRAFT_OP_SLICE:
        return validate_slice(place, operation, error);
    default:
        return GRAFT_OK;
    }
}

static int validate_operation(const struct graft_place *place, const struct graft_operation *operation,
                              struct chain *chain, struct graft_error *error) {
    if (operation->kind < GRAFT_OP_CONCATENATE || operation->kind > LAST_KIND) {
        return graft_check_failed(place, "kind", error, "expected %d to %d, got %d", GRAFT_OP_CONCATENATE, LAST_KIND,
                                  (int)operation->kind);
    }
    const int fuses = operation->kind == GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS;
    const int decouples = operation->kind == GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS;
    int cuts = operation->kind == GRAFT_OP_CHUNK || operation->kind == GRAFT_OP_SPLIT;
    int status = validate_fields(place, operation, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (cuts && chain->values != 1) {
        return graft_check_failed(place, "kind", error, "a %s takes one value, got %d",
                                  operation->kind == GRAFT_OP_CHUNK ? "Chunk" : "Split", (int)chain->values);
    }
    if ((operation->kind == GRAFT_OP_MERGE_MODULELIST || fuses) && !chain->star_in_sources) {
        return graft_check_failed(place, "kind", error, "%s needs a * in a source",
                                  fuses ? "an ErnieFuseAndSplitTextVisionExperts" : "a MergeModulelist");
    }
    if ((operation->kind == GRAFT_OP_SPLIT_MODULELIST || decouples) && !chain->star_in_targets) {
        return graft_check_failed(place, "kind", error, "%s needs a * in a target",
                                  decouples ? "an ErnieSplitAndDecoupleTextVisionExperts" : "a SplitModulelist");
    }
    if (operation->kind == GRAFT_OP_CONCATENATE) {
        chain->values = 1;
    } else if (cuts || fuses || decouples || operation->kind == GRAFT_OP_CUSTOM) {
        chain->values = chain->n_targets;
    }
    return GRAFT_OK;
}

static int validate_chain(const struct graft_place *place, const struct graft_conversion *conversion,
                          struct chain *chain, struct graft_error *error) {
    const struct graft_array operations = {"operations",
                                           "n_operations",
                                           "operation_stride",
                                           conversion->operations,
                                           conversion->n_operations,
                                           0,
                                           MAX_OPERATIONS,
                                           conversion->operation_stride,
                                           GRAFT_OPERATION_SIZE_1_0};
    int status = graft_check_array(place, &operations, error);
    if (status == GRAFT_OK && conversion->n_operations == 0 &&
        (conversion->n_sources != 1 || conversion->n_targets != 1)) {
        return graft_check_failed(place, NULL, error,
                                  "a renaming (no operations) takes 1 source and 1 target, got %d and %d",
                                  (int)conversion->n_sources, (int)conversion->n_targets);
    }
    for (int32_t i = 0; i < conversion->n_operations && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "operations", .index = i};
        status = validate_operation(&element, graft_array_at(conversion->operations, conversion->operation_stride, i),
                                    chain, error);
    }
    if (status == GRAFT_OK && chain->values != conversion->n_targets) {
        status = graft_check_failed(place, "n_targets", error, "expected %d, as many as the operations make, got %d",
                                    (int)chain->values, (int)conversion->n_targets);
    }
    return status;
}

int graft_conversion_validate(const struct graft_place *place, const struct graft_conversion *conversion,
                              struct graft_error *error) {
    const struct graft_array sources = {.field = "sources",
                                        .count_field = "n_sources",
                                        .items = conversion->sources,
                                        .count = conversion->n_sources,
                                        .min_count = 1,
                                        .max_count = MAX_NAMES};
    const struct graft_array targets = {.field = "targets",
                                        .count_field = "n_targets",
                                        .items = conversion->targets,
                                        .count = conversion->n_targets,
                                        .min_count = 1,
                                        .max_count = MAX_NAMES};
    struct chain chain = {.values = conversion->n_sources, .n_targets = conversion->n_targets};
    int status = graft_check_zero(place, "reserved", conversion->reserved, error);
    if (status == GRAFT_OK) {
        status = validate_names(place, &sources, &chain.star_in_sources, error);
    }
    if (status == GRAFT_OK) {
        status = validate_names(place, &targets, &chain.star_in_targets, error);
    }
    if (status == GRAFT_OK) {
        status = validate_chain(place, conversion, &chain, error);
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/conversion.h says what a conversion must hold");
    }
    return status;
}
