/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats each call of the plugin's modules in ways that must not change the result. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/activation.h"
#include "graft/linear.h"
#include "interface/views.h"
#include "validate/checks.h"
#include "validate/guarded_call.h"
#include "validate/second_calls.h"

struct again {
    struct graft_second_calls *second;
    const struct graft_hooked_call *hooked;
    struct graft_cache *cache;
    struct graft_guarded_call first; /* the reference for the other calls */
    struct graft_guarded_call other;
};

/* --- A parallel_for that cuts loops into small parts and runs them last to first, on one thread --- */

static void divided_for(int64_t items, int64_t grain, graft_parallel_body body, void *data) {
    enum { PARTS = 9 };
    const int64_t least = grain > 1 ? grain : 1, part = items / PARTS > least ? items / PARTS : least;
    for (int64_t begin = (items - 1) / part * part; begin >= 0 && items > 0; begin -= part) {
        body(data, begin, begin + part < items ? begin + part : items);
    }
}

static int32_t divided_count(void) {
    return 2;
}

static const struct graft_threads divided = {
    .struct_size = sizeof divided, .parallel_for = divided_for, .count = divided_count};

/* --- Comparing --- */

static int fault(const struct again *again, const char *where, const char *what, struct graft_error *error) {
    return graft_second_calls_fault(again->second, again->hooked, where, what, error);
}

static int compare_bits(const struct again *again, const char *what, struct graft_error *error) {
    for (int32_t i = 0; i < again->hooked->n_views; i++) {
        const struct graft_region *first = again->first.views[i], *other = again->other.views[i];
        if (again->hooked->views[i].direction != GRAFT_VIEW_IN && first != NULL &&
            memcmp(first->data, other->data, first->bytes) != 0) {
            return fault(again, first->name, what, error);
        }
    }
    return GRAFT_OK;
}

/* Whether all outputs were written. If not, the check call.writes_all reports it. */
static int is_written(const struct again *again) {
    int written = 1;
    for (int32_t i = 0; i < again->hooked->n_views; i++) {
        const struct graft_region *first = again->first.views[i];
        const int is_output = again->hooked->views[i].direction == GRAFT_VIEW_OUT && first != NULL;
        for (size_t k = 0; is_output && k + sizeof(uint32_t) <= first->bytes; k += sizeof(uint32_t)) {
            uint32_t word;
            memcpy(&word, first->data + k, sizeof word);
            written &= word != UINT32_MAX;
        }
    }
    return written;
}

/* Compares `count` numbers of view `i`, beginning with number `from`. */
static int compare_numbers(const struct again *again, int32_t i, int64_t from, int64_t count, const float *other,
                           const char *what, struct graft_error *error) {
    const struct graft_region *first = again->first.views[i];
    struct graft_difference found = {0};
    char text[200];
    if (first == NULL || again->hooked->views[i].dtype != GRAFT_DTYPE_F32) {
        return GRAFT_OK;
    }
    graft_difference_add(&found, other, (const float *)(const void *)first->data + from, count);
    if (found.difference <= graft_difference_limit(&found, GRAFT_VALIDATION_TOLERANCE)) {
        return GRAFT_OK;
    }
    (void)snprintf(text, sizeof text, "%s: by %.3g (values up to %.3g)", what, found.difference, found.value);
    return fault(again, first->name, text, error);
}

/* --- Ways to repeat a call --- */

static int make(const struct again *again, struct graft_guarded_call *call, const struct graft_threads *threads,
                struct graft_error *error) {
    int status = graft_guarded_call_prepare(call, again->hooked, again->cache, error);
    call->threads = threads;
    return status == GRAFT_OK ? graft_guarded_call_run(call, again->hooked, error) : status;
}

static int make_and_compare(struct again *again, const struct graft_threads *threads, const char *what,
                            struct graft_error *error) {
    int status = make(again, &again->other, threads, error);
    if (status == GRAFT_OK) {
        status = compare_bits(again, what, error);
    }
    graft_guarded_call_end(&again->other);
    return status;
}

/* The offset in the args of the number of rows that all arrays share; 0 if rows depend on each other or differ. */
static size_t rows_field(const struct graft_hooked_call *hooked) {
    const struct graft_interface *interface = graft_interface_find(hooked->node->made_by->cls->interface_id);
    const struct graft_row_adapters *adapters = hooked->call->row_adapters;
    const size_t offset = interface->arrays[0].rows.offset;
    const int are_heads = graft_args_int(&hooked->node->args, "heads", 0) > 0; /* row i has the weight of a head */
    int are_rows = !are_heads && interface->batch_field == 0 && (adapters == NULL || adapters->adapters == NULL);
    for (const struct graft_interface_array *array = interface->arrays; array->name != NULL; array++) {
        are_rows &= array->rows.from == GRAFT_SIZE_FIELD && array->rows.offset == offset;
    }
    return are_rows ? offset : 0;
}

/* Calls forward with a single row. */
static int make_row(struct again *again, size_t field, int64_t row, struct graft_error *error) {
    const struct graft_hooked_call *hooked = again->hooked;
    const int64_t one = 1;
    char what[64];
    int status = graft_guarded_call_prepare(&again->other, hooked, again->cache, error);
    if (status != GRAFT_OK) {
        return status;
    }
    memcpy((char *)again->other.copy.args + field, &one, sizeof one);
    for (int32_t i = 0; i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        char *data;
        memcpy(&data, (char *)again->other.copy.args + view->field, sizeof data);
        data += row * view->columns * (int64_t)sizeof(float);
        memcpy((char *)again->other.copy.args + view->field, &data, sizeof data);
    }
    status = graft_guarded_call_run(&again->other, hooked, error);
    (void)snprintf(what, sizeof what, "row %lld is different when it is given alone", (long long)row);
    for (int32_t i = 0; i < hooked->n_views && status == GRAFT_OK; i++) {
        const struct graft_view *view = &hooked->views[i];
        const struct graft_region *region = again->other.views[i];
        if (view->direction != GRAFT_VIEW_IN && region != NULL) {
            const int64_t from = row * view->columns;
            status = compare_numbers(again, i, from, view->columns, (const float *)(const void *)region->data + from,
                                     what, error);
        }
    }
    graft_guarded_call_end(&again->other);
    return status;
}

static int make_rows(struct again *again, struct graft_error *error) {
    const size_t field = rows_field(again->hooked);
    const int64_t rows = again->hooked->views[0].rows;
    if (field == 0 || rows < 2) {
        return GRAFT_OK;
    }
    int status = make_row(again, field, 0, error);
    return status == GRAFT_OK ? make_row(again, field, rows - 1, error) : status;
}

/* Calls the vtable's optional slots in place of forward. */
static int make_slot(struct again *again, struct graft_error *error) {
    const struct graft_hooked_call *hooked = again->hooked;
    const struct graft_call *call = hooked->call;
    const char *interface = hooked->node->made_by->cls->interface_id;
    const struct graft_view *output = &hooked->views[1];
    const int64_t count = output->rows * output->columns;
    struct graft_product product;
    int status = GRAFT_OK;
    float *y = graft_alloc((size_t)count, sizeof *y);
    if (y == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    memset(y, 0xFF, (size_t)count * sizeof *y);
    if (strcmp(interface, GRAFT_INTERFACE_LINEAR) == 0) {
        struct graft_linear_args args;
        graft_struct_copy(&args, sizeof args, hooked->args);
        args.y = y;
        if (graft_linear_as_product(hooked->module, &args, &product)) {
            status = call->kernels->linear(call, &product, 1, sizeof product, error);
            status = status == GRAFT_OK
                         ? compare_numbers(again, 1, 0, count, y, "as_product gives other numbers than forward", error)
                         : status;
        }
    } else if (strcmp(interface, GRAFT_INTERFACE_ACTIVATION) == 0) {
        const int32_t kernel = graft_activation_as_kernel(hooked->module);
        if (kernel >= 0) {
            status = call->kernels->activation(call, kernel, hooked->views[0].data, count, y, error);
            status = status == GRAFT_OK
                         ? compare_numbers(again, 1, 0, count, y, "as_kernel gives other numbers than forward", error)
                         : status;
        }
    }
    graft_free(y);
    return status;
}

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_second_calls *second = data;
    struct again again = {.second = second, .hooked = hooked};
    if (hooked->n_views == 0) {
        return GRAFT_OK;
    }
    again.cache = graft_second_calls_cache(second, hooked->node);
    if (again.cache == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    graft_validation_at(second->subject->validation, second->subject->model_type);
    second->calls++;
    int status = make(&again, &again.first, NULL, error);
    if (status == GRAFT_OK) {
        status = make_and_compare(&again, NULL, "two calls with the same arrays give other numbers", error);
    }
    if (status == GRAFT_OK) {
        status = make_and_compare(&again, &divided, "it depends on how parallel_for divides the work", error);
    }
    if (status == GRAFT_OK && is_written(&again)) {
        status = make_rows(&again, error);
    }
    if (status == GRAFT_OK && is_written(&again)) {
        status = make_slot(&again, error);
    }
    graft_guarded_call_end(&again.first);
    return status;
}

static int run_again(struct graft_subject *subject, struct graft_error *error) {
    return graft_second_calls_run(subject, 0, 1, before, NULL, error);
}

int graft_check_again(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each(validation, run_again, error);
}
