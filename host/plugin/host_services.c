/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/host_services.h"

#include <string.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/dtype.h"
#include "base/lend.h"
#include "base/regex.h"
#include "config/json_service.h"
#include "graft/json.h"
#include "graft/kernels.h"
#include "graft/log.h"
#include "graft/regex.h"
#include "graft/threads.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"
#include "parallel/ranks.h"
#include "plugin/plugin_ref.h"
#include "plugin/version.h"
#include "rope/service.h"

enum { MAX_SENDER = 128, MAX_LINE = 2048 };

void graft_log_set_sink(graft_log_sink sink, void *data) {
    graft_context_set_log(graft_context_of_process(), sink, data);
}

void graft_progress_set_sink(graft_progress_sink sink, void *data) {
    graft_context_set_progress(graft_context_of_process(), sink, data);
}

static void log_line(const char *sender, const char *text) {
    char clean_sender[MAX_SENDER];
    char clean_text[MAX_LINE];
    (void)snprintf(clean_sender, sizeof clean_sender, "%s", sender != NULL ? sender : "");
    (void)snprintf(clean_text, sizeof clean_text, "%s", text != NULL ? text : "");
    graft_error_clean(clean_sender);
    graft_error_clean(clean_text);
    graft_context_log(clean_sender, clean_text);
}

static const void *log_get(void) {
    static const struct graft_log log = {.struct_size = sizeof log, .line = log_line};
    return &log;
}

static const void *json_get(void) {
    return graft_json_service_get();
}

static const void *kernels_get(void) {
    return graft_kernels_get();
}

static const void *parallel_get(void) {
    return graft_ranks_get();
}

static const void *rope_get(void) {
    return graft_rope_service_get();
}

static const void *threads_get(void) {
    return graft_threads_get();
}

static int regex_search(const char *pattern, const char *text, const char *source, int32_t *found,
                        struct graft_error *error) {
    struct graft_regex *regex = NULL;
    struct graft_regex_match match;
    int status = graft_regex_compile(pattern, strlen(pattern), source, GRAFT_ERROR_MODEL, &regex, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int hit = graft_regex_search(regex, text, strlen(text), 0, &match);
    graft_regex_free(regex);
    if (hit < 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source,
                               "pattern \"%.300s\": searching \"%.300s\" costs too much", pattern, text);
    }
    *found = hit == GRAFT_REGEX_MATCH;
    return GRAFT_OK;
}

static const void *regex_get(void) {
    static const struct graft_regexes regexes = {.struct_size = sizeof regexes, .search = regex_search};
    return &regexes;
}

static const struct {
    const char *id;
    const void *(*get)(void);
} extensions[] = {
    {GRAFT_JSON_ID, json_get},         {GRAFT_KERNELS_ID, kernels_get}, {GRAFT_LOG_ID, log_get},
    {GRAFT_PARALLEL_ID, parallel_get}, {GRAFT_REGEX_ID, regex_get},     {GRAFT_ROPE_ID, rope_get},
    {GRAFT_THREADS_ID, threads_get},
};

enum { N_EXTENSIONS = sizeof extensions / sizeof extensions[0] };

const char *graft_host_extension_id(size_t index) {
    return index < N_EXTENSIONS ? extensions[index].id : NULL;
}

static const void *get_extension(const char *id) {
    for (size_t i = 0; id != NULL && i < N_EXTENSIONS; i++) {
        if (strcmp(extensions[i].id, id) == 0) {
            return extensions[i].get();
        }
    }
    return NULL;
}

static void *host_alloc(int64_t bytes) {
    const struct graft_lender *lender = graft_lender();
    if (lender != NULL) {
        return lender->alloc(bytes);
    }
    return bytes < 0 || (uint64_t)bytes > SIZE_MAX ? NULL : graft_alloc((size_t)bytes, 1);
}

static void host_free(void *block) {
    const struct graft_lender *lender = graft_lender();
    (lender != NULL ? lender->free : graft_free)(block);
}

const struct graft_host *graft_host_get(void) {
    static const struct graft_host host = {
        .struct_size = sizeof host,
        .abi_major = GRAFT_ABI_MAJOR,
        .abi_minor = GRAFT_ABI_MINOR,
        .version = GRAFT_VERSION,
        .get_extension = get_extension,
        .alloc = host_alloc,
        .free = host_free,
        .options = graft_plugin_ref_options,
        .get_plugin_extension = graft_plugin_ref_extension,
        .dtype_size = graft_dtype_size,
        .dtype_name = graft_dtype_name,
    };
    return &host;
}
