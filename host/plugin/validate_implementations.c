/* SPDX-License-Identifier: Apache-2.0 */
/* Validates what a plugin offers by name: attention and experts implementations, kernels, and logits processors. */
#include <string.h>

#include "graft/attention_implementation.h"
#include "graft/experts_implementation.h"
#include "graft/kernel_override.h"
#include "graft/logits_processor.h"
#include "plugin/validate.h"

enum { MAX_OFFERS = 256, MAX_OFFER_NAME = 64, MAX_DESCRIPTION = 1023 };

static int validate_name(const struct graft_place *place, const char *name, struct graft_error *error) {
    int status = graft_check_text(place, "name", name, MAX_OFFER_NAME, error);
    if (status == GRAFT_OK &&
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] != '\0') {
        status = graft_check_failed(place, "name", error, "expected only letters, digits, '_', '.' and '-', got \"%s\"",
                                    name);
    }
    return status;
}

static int validate_attention(const struct graft_place *place, const void *declared, struct graft_error *error) {
    const struct graft_attention_implementation *attention = declared;
    int status = validate_name(place, attention->name, error);
    if (status == GRAFT_OK) {
        status = graft_check_flags(place, attention->flags, 0, error);
    }
    if (status == GRAFT_OK && attention->masks == 0) {
        status =
            graft_check_failed(place, "masks", error, "expected at least one kind of mask that it supports, got 0");
    }
    if (status == GRAFT_OK && attention->forward == NULL) {
        status = graft_check_failed(place, "forward", error, "expected a function, got NULL");
    }
    graft_error_hint(error, "graft/attention_implementation.h says what an implementation must hold");
    return status;
}

static int validate_experts(const struct graft_place *place, const void *declared, struct graft_error *error) {
    const struct graft_experts_implementation *experts = declared;
    int status = validate_name(place, experts->name, error);
    if (status == GRAFT_OK && experts->forward == NULL) {
        status = graft_check_failed(place, "forward", error, "expected a function, got NULL");
    }
    graft_error_hint(error, "graft/experts_implementation.h says what an implementation must hold");
    return status;
}

/* Checks that functions that create and free states are both there or both missing. */
static int validate_states(const struct graft_place *place, const struct graft_logits_processor *processor,
                           struct graft_error *error) {
    if (processor->create != NULL && processor->destroy == NULL) {
        return graft_check_failed(place, "destroy", error, "expected a function beside create, got NULL");
    }
    if (processor->create == NULL && (processor->accept != NULL || processor->fork != NULL)) {
        return graft_check_failed(place, "create", error, "expected a function beside accept and fork, got NULL");
    }
    return GRAFT_OK;
}

static int validate_processor(const struct graft_place *place, const void *declared, struct graft_error *error) {
    const struct graft_logits_processor *processor = declared;
    int status = validate_name(place, processor->name, error);
    if (status == GRAFT_OK) {
        status = graft_check_flags(place, processor->flags, 0, error);
    }
    if (status == GRAFT_OK &&
        (processor->interface_id == NULL || strcmp(processor->interface_id, GRAFT_INTERFACE_LOGITS_PROCESSOR) != 0)) {
        status = graft_check_failed(place, "interface_id", error, "expected \"%s\", got \"%s\"",
                                    GRAFT_INTERFACE_LOGITS_PROCESSOR,
                                    processor->interface_id != NULL ? processor->interface_id : "");
    }
    if (status == GRAFT_OK && processor->description != NULL) {
        status = graft_check_text(place, "description", processor->description, MAX_DESCRIPTION, error);
    }
    if (status == GRAFT_OK && processor->process == NULL) {
        status = graft_check_failed(place, "process", error, "expected a function, got NULL");
    }
    if (status == GRAFT_OK) {
        status = validate_states(place, processor, error);
    }
    graft_error_hint(error, "graft/logits_processor.h says what a processor must hold");
    return status;
}

/* Validates a kernel like a replacement; it works on the structure of the class that it runs. */
static int validate_own(const struct graft_place *place, const struct graft_replacement *replacement,
                        struct graft_error *error) {
    const struct graft_class *class = replacement->replacement;
    const struct graft_place inner = {.parent = place, .field = "replacement", .index = -1};
    if (replacement->key != GRAFT_KEY_NAME) {
        return graft_check_failed(place, "key", error, "expected GRAFT_KEY_NAME (%d), got %d", GRAFT_KEY_NAME,
                                  (int)replacement->key);
    }
    if (class->describe != NULL || class->n_conversions > 0) {
        return graft_check_failed(&inner, "describe", error, "expected NULL and no conversions: a kernel has neither");
    }
    if (class->create == NULL) {
        return graft_check_failed(&inner, "create", error, "expected a function, got NULL");
    }
    if ((class->flags & GRAFT_CLASS_CALLS_SUPER) != 0) {
        return graft_check_failed(&inner, "flags", error,
                                  "GRAFT_CLASS_CALLS_SUPER is set, but no original is built beside a kernel");
    }
    return GRAFT_OK;
}

static int validate_kernel(const struct graft_place *place, const void *declared, struct graft_error *error) {
    const struct graft_kernel_override *kernel = declared;
    const struct graft_replacement *replacement = kernel->replacement;
    const struct graft_place inner = {.parent = place, .field = "replacement", .index = -1};
    int status = graft_check_zero(place, "reserved", kernel->reserved, error);
    status = status == GRAFT_OK ? validate_name(place, kernel->name, error) : status;
    if (status == GRAFT_OK && replacement == NULL) {
        status = graft_check_failed(place, "replacement", error, "expected a replacement, got NULL");
    }
    if (status == GRAFT_OK) {
        status = graft_check_size(&inner, replacement->struct_size, GRAFT_REPLACEMENT_SIZE_1_0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_replacement_validate(&inner, replacement, error);
    }
    if (status == GRAFT_OK) {
        status = validate_own(&inner, replacement, error);
    }
    graft_error_hint(error, "graft/kernel_override.h says what a kernel must hold");
    return status;
}

/* The first element before number `n` with the same name; -1 if there is none. The name is at the same offset in all
 * elements. */
static int32_t find_name(const struct graft_array *array, size_t name_field, int32_t n) {
    const char *name;
    const char *other;
    memcpy(&name, (const char *)graft_array_at(array->items, array->stride, n) + name_field, sizeof name);
    for (int32_t i = 0; i < n; i++) {
        memcpy(&other, (const char *)graft_array_at(array->items, array->stride, i) + name_field, sizeof other);
        if (strcmp(name, other) == 0) {
            return i;
        }
    }
    return -1;
}

typedef int validate_function(const struct graft_place *place, const void *declared, struct graft_error *error);

/* Validates an array. `name_field` is the offset of a name that must be unique; 0: names may repeat. */
static int validate_array(const struct graft_place *place, const struct graft_array *array, validate_function *validate,
                          size_t name_field, struct graft_error *error) {
    int status = graft_check_array(place, array, error);
    for (int32_t i = 0; i < array->count && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = array->field, .index = i};
        status = validate(&element, graft_array_at(array->items, array->stride, i), error);
        int32_t same = status == GRAFT_OK && name_field > 0 ? find_name(array, name_field, i) : -1;
        if (same >= 0) {
            status =
                graft_check_failed(&element, "name", error, "it is also the name of %s[%d]", array->field, (int)same);
        }
    }
    return status;
}

/* Validates the logits processors, a member that the descriptors of older plugins lack. */
static int validate_processors(const struct graft_place *place, const struct graft_plugin *plugin,
                               struct graft_error *error) {
    if (!GRAFT_HAS(plugin, struct graft_plugin, logits_processor_stride)) {
        return GRAFT_OK;
    }
    const struct graft_array processors = {"logits_processors",
                                           "n_logits_processors",
                                           "logits_processor_stride",
                                           plugin->logits_processors,
                                           plugin->n_logits_processors,
                                           0,
                                           MAX_OFFERS,
                                           plugin->logits_processor_stride,
                                           GRAFT_LOGITS_PROCESSOR_SIZE_1_0};
    return validate_array(place, &processors, validate_processor, offsetof(struct graft_logits_processor, name), error);
}

int graft_implementations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                   struct graft_error *error) {
    const struct graft_array attention = {"attention_implementations",
                                          "n_attention_implementations",
                                          "attention_implementation_stride",
                                          plugin->attention_implementations,
                                          plugin->n_attention_implementations,
                                          0,
                                          MAX_OFFERS,
                                          plugin->attention_implementation_stride,
                                          GRAFT_ATTENTION_IMPLEMENTATION_SIZE_1_0};
    const struct graft_array experts = {"experts_implementations",
                                        "n_experts_implementations",
                                        "experts_implementation_stride",
                                        plugin->experts_implementations,
                                        plugin->n_experts_implementations,
                                        0,
                                        MAX_OFFERS,
                                        plugin->experts_implementation_stride,
                                        GRAFT_EXPERTS_IMPLEMENTATION_SIZE_1_0};
    const struct graft_array kernels = {"kernels",       "n_kernels",           "kernel_stride",
                                        plugin->kernels, plugin->n_kernels,     0,
                                        MAX_OFFERS,      plugin->kernel_stride, GRAFT_KERNEL_OVERRIDE_SIZE_1_0};
    int status = validate_array(place, &attention, validate_attention,
                                offsetof(struct graft_attention_implementation, name), error);
    if (status == GRAFT_OK) {
        status = validate_array(place, &experts, validate_experts, offsetof(struct graft_experts_implementation, name),
                                error);
    }
    if (status == GRAFT_OK) {
        status = validate_array(place, &kernels, validate_kernel, 0, error);
    }
    return status == GRAFT_OK ? validate_processors(place, plugin, error) : status;
}
