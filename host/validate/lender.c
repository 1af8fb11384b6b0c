/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/lender.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/args.h"
#include "base/dtype.h"
#include "base/lend.h"
#include "graft/class.h"
#include "validate/crash.h"

static void *lend(const char *name, const void *object, size_t bytes) {
    struct graft_region *region =
        graft_crash_in_plugin() ? graft_region_make(GRAFT_REGION_STRUCT, name, bytes, 0, 1) : NULL;
    return region != NULL ? memcpy(region->data, object, bytes) : NULL;
}

/* Lends a copy of the struct, followed by everything that it points to. */
static const struct graft_args *lend_args(const struct graft_args *args) {
    enum { HEAD = 32 };
    _Static_assert(sizeof *args <= HEAD, "what follows is aligned");
    struct graft_region *region = graft_crash_in_plugin() ? graft_region_make(GRAFT_REGION_STRUCT, "args",
                                                                              HEAD + graft_args_bytes(args, NULL), 0, 1)
                                                          : NULL;
    if (region == NULL) {
        return args;
    }
    const struct graft_args copy = graft_args_write(region->data + HEAD, args, NULL);
    return memcpy(region->data, &copy, sizeof copy);
}

static const struct graft_sink *lend_sink(const struct graft_sink *sink) {
    const struct graft_sink *copy = lend("sink", sink, sizeof *sink);
    return copy != NULL ? copy : sink;
}

/* --- The build that `create` gets: parameters are copied as well --- */

enum { MOST_BYTES = 1 << 26 }; /* size up to which a parameter is copied */

static const struct graft_build *build_of(const void *data) {
    return data;
}

static void name_parameter(const struct graft_weight *weight, const char *parameter, char *name, size_t size) {
    size_t length = (size_t)snprintf(name, size, "parameter %.40s [", parameter);
    for (int32_t i = 0; i < weight->rank && length < size; i++) {
        length +=
            (size_t)snprintf(name + length, size - length, "%s%lld", i > 0 ? ", " : "", (long long)weight->shape[i]);
    }
    if (length < size) {
        (void)snprintf(name + length, size - length, "]");
    }
}

static const void *copy_block(const struct graft_weight *weight, const struct graft_row_block *block,
                              const char *parameter) {
    char name[96];
    const int64_t element = graft_dtype_size(block->dtype), bytes = block->rows * weight->columns * element;
    name_parameter(weight, parameter, name, sizeof name);
    struct graft_region *region =
        bytes > 0 && bytes <= MOST_BYTES
            ? graft_region_make(GRAFT_REGION_PARAMETER, name, (size_t)bytes, (size_t)element, (int32_t)element)
            : NULL;
    if (region == NULL) {
        return block->data;
    }
    memcpy(region->data, block->data, (size_t)bytes);
    graft_region_seal(region);
    return region->data;
}

/* Returns a copy of the weight with its blocks, which stays valid as long as the process. */
static const struct graft_weight *find_weight(void *data, const char *parameter) {
    const struct graft_build *build = build_of(data);
    const struct graft_weight *weight = build->weight(build->data, parameter);
    if (weight == NULL || weight->codec != NULL || weight->n_blocks <= 0) {
        return weight;
    }
    const size_t blocks = (size_t)weight->n_blocks * weight->block_stride;
    struct graft_region *region = graft_region_make(GRAFT_REGION_OWN, "", sizeof *weight + blocks, 0, 1);
    if (region == NULL) {
        return weight;
    }
    struct graft_weight *copy = (void *)region->data;
    *copy = *weight;
    copy->blocks = memcpy(region->data + sizeof *weight, weight->blocks, blocks);
    for (int32_t i = 0; i < copy->n_blocks; i++) {
        struct graft_row_block *block = (void *)(uintptr_t)graft_weight_block(copy, i);
        block->data = copy_block(weight, block, parameter);
    }
    return copy;
}

static const struct graft_module *find_child(void *data, const char *name) {
    return build_of(data)->child(build_of(data)->data, name);
}

static const struct graft_args *find_child_args(void *data, const char *name) {
    return build_of(data)->child_args(build_of(data)->data, name);
}

static const struct graft_state *find_state(void *data, const char *name) {
    return build_of(data)->state(build_of(data)->data, name);
}

static void *take_memory(void *data, int64_t bytes) {
    return build_of(data)->memory(build_of(data)->data, bytes);
}

/* Returns a copy of the build, in memory that becomes inaccessible after `create`. Its functions find the real build,
 * which stays valid, through `data`. */
static const struct graft_build *lend_build(const struct graft_build *build) {
    struct graft_region *real =
        graft_crash_in_plugin() ? graft_region_make(GRAFT_REGION_OWN, "", sizeof *build, 0, 1) : NULL;
    if (real == NULL) {
        return build;
    }
    struct graft_build lent = *build;
    lent.data = memcpy(real->data, build, sizeof *build);
    lent.weight = find_weight;
    lent.child = find_child;
    lent.child_args = find_child_args;
    lent.state = find_state;
    lent.memory = take_memory;
    const struct graft_build *copy = lend("build", &lent, sizeof lent);
    return copy != NULL ? copy : build;
}

static void take_back(const void *lent) {
    struct graft_region *region = graft_region_at(lent);
    if (region != NULL && region->kind == GRAFT_REGION_STRUCT) {
        graft_region_end(region, GRAFT_REGION_ENDED);
    }
}

/* --- host->alloc --- */

static void *take(int64_t bytes) {
    if (bytes < 0 || (uint64_t)bytes > SIZE_MAX) {
        return NULL;
    }
    struct graft_region *region =
        graft_crash_in_plugin() ? graft_region_make(GRAFT_REGION_BLOCK, "", (size_t)bytes, 0, 1) : NULL;
    return region != NULL ? region->data : graft_alloc((size_t)bytes, 1);
}

/* Reports a block that was freed before: freed regions are never reused, so its address is still known. */
static void give(void *block) {
    struct graft_region *region = graft_region_at(block);
    const struct graft_region *near = region == NULL && block != NULL ? graft_region_around(block) : NULL;
    char what[400];
    if (region != NULL && region->kind == GRAFT_REGION_BLOCK) {
        if (!graft_region_is_whole(region)) {
            (void)snprintf(what, sizeof what,
                           "Bytes beside a block of %zu bytes have changed that %s took of host->alloc, as is seen",
                           region->bytes, region->owner);
            graft_crash_found(what);
        }
        graft_region_end(region, GRAFT_REGION_FREED);
    } else if (near != NULL && near->state == GRAFT_REGION_FREED) {
        (void)snprintf(what, sizeof what, "Freed a block of %zu bytes twice, which %s took of host->alloc,",
                       near->bytes, near->owner);
        graft_crash_found(what);
    } else if (region != NULL || near != NULL) {
        graft_crash_found("Gave host->free an address that host->alloc did not give");
    } else {
        graft_free(block);
    }
}

void graft_lender_begin(enum graft_region_side side) {
    static const struct graft_lender lender = {lend_args, lend_sink, lend_build, take_back, take, give};
    graft_region_set_side(side);
    graft_lender_set(&lender);
}

int graft_lender_check_blocks(const struct graft_validation *validation, struct graft_error *error) {
    for (size_t i = 0; i < graft_region_count(); i++) {
        const struct graft_region *region = graft_region_number(i);
        if (region != NULL && region->kind == GRAFT_REGION_BLOCK && region->state == GRAFT_REGION_OPEN &&
            !graft_region_is_whole(region)) {
            return graft_validation_fault(validation, error,
                                          "bytes beside a block of %zu bytes have changed that %s took of host->alloc",
                                          region->bytes, region->owner);
        }
    }
    return GRAFT_OK;
}

int graft_lender_check_freed(const struct graft_validation *validation, struct graft_error *error) {
    const struct graft_region *first = NULL;
    size_t n = 0, bytes = 0;
    for (size_t i = 0; i < graft_region_count(); i++) {
        const struct graft_region *region = graft_region_number(i);
        if (region != NULL && region->kind == GRAFT_REGION_BLOCK && region->state == GRAFT_REGION_OPEN) {
            first = first != NULL ? first : region;
            bytes += region->bytes;
            n++;
        }
    }
    return n == 0
               ? GRAFT_OK
               : graft_validation_fault(validation, error,
                                        "what %s took of host->alloc is not freed when the model and the plugin are: "
                                        "a block of %zu bytes, of %zu with %zu bytes in all",
                                        first->owner, first->bytes, n, bytes);
}
