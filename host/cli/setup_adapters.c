/* SPDX-License-Identifier: Apache-2.0 */
/* --adapter [NAME=]DIR and --adapter-scale NAME=NUMBER. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/hub.h"
#include "cli/setup.h"

/* The default name of an adapter, as in PEFT. */
static const char usual_name[] = "default";

/* The length of NAME in "NAME=DIR"; 0 without a name. A '=' after a '/' or '.' belongs to the directory. */
static size_t name_length(const char *given) {
    size_t length = strcspn(given, "=./");
    return given[length] == '=' ? length : 0;
}

static int set(struct graft_adapter_options *adapter, const char *given, struct graft_error *error) {
    size_t length = name_length(given);
    if (given[0] == '=' || (length > 0 && given[length + 1] == '\0')) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--adapter", "expected [NAME=]DIR, got \"%.200s\"", given);
    }
    *adapter = (struct graft_adapter_options){
        .struct_size = sizeof *adapter,
        .name = length > 0 ? graft_strndup(given, length) : graft_strdup(usual_name),
        .scale = 1.0,
    };
    char *directory = NULL;
    int status = adapter->name != NULL ? graft_hub_find(length > 0 ? given + length + 1 : given, &directory, error)
                                       : graft_fail_memory(error, "--adapter");
    adapter->directory = directory;
    return status;
}

static int scale(struct graft_adapter_options *adapters, size_t n, const char *given, struct graft_error *error) {
    size_t length = strcspn(given, "=");
    char *end = NULL;
    double factor = given[length] == '=' ? strtod(given + length + 1, &end) : 0.0;
    if (end == NULL || end == given + length + 1 || *end != '\0') {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--adapter-scale", "expected NAME=NUMBER, got \"%.200s\"",
                               given);
    }
    for (size_t i = 0; i < n; i++) {
        if (strlen(adapters[i].name) == length && memcmp(adapters[i].name, given, length) == 0) {
            adapters[i].scale = factor;
            return GRAFT_OK;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_USAGE, "--adapter-scale", "there is no adapter \"%.*s\"",
                           length < 200 ? (int)length : 200, given);
}

int graft_setup_adapters(const struct graft_options *options, struct graft_adapter_options **adapters,
                         struct graft_error *error) {
    size_t n = options->adapters.count;
    *adapters = graft_alloc(n, sizeof **adapters);
    int status = *adapters != NULL ? GRAFT_OK : graft_fail_memory(error, "--adapter");
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = set(&(*adapters)[i], options->adapters.items[i], error);
    }
    for (size_t i = 0; i < options->adapter_scales.count && status == GRAFT_OK; i++) {
        status = scale(*adapters, n, options->adapter_scales.items[i], error);
    }
    return status;
}

void graft_setup_adapters_free(struct graft_adapter_options *adapters, size_t n) {
    for (size_t i = 0; adapters != NULL && i < n; i++) {
        graft_free((char *)(uintptr_t)adapters[i].name);
        graft_free((char *)(uintptr_t)adapters[i].directory);
    }
    graft_free(adapters);
}
