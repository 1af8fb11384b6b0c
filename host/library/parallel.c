/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the parallel provider: a plugin that is loaded before all others. */
#include "base/alloc.h"
#include "base/crash_context.h"
#include "graft/host/process.h"
#include "parallel/ranks.h"
#include "plugin/plugin.h"

static struct graft_plugin_set *providers; /* the provider's plugin */

/* Checks the functions of a provider. */
static int check(const char *id, const struct graft_parallel *parallel, struct graft_error *error) {
    if (parallel == NULL || parallel->struct_size < GRAFT_PARALLEL_SIZE_1_0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, id, "start gave no struct graft_parallel, or a short one");
    }
    if (parallel->size < 1 || parallel->rank < 0 || parallel->rank >= parallel->size) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, id, "start gave rank %ld of %ld", (long)parallel->rank,
                               (long)parallel->size);
    }
    if (parallel->allreduce == NULL || parallel->allgather == NULL || parallel->broadcast == NULL ||
        parallel->send == NULL || parallel->receive == NULL || parallel->abort == NULL ||
        parallel->statistics == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, id,
                               "start gave a struct graft_parallel that lacks functions");
    }
    return GRAFT_OK;
}

static int start(const char *id, const struct graft_parallel_provider *provider, struct graft_error *error) {
    const struct graft_parallel *parallel = NULL;
    if (provider == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, id, "this plugin does not connect processes");
    }
    const struct graft_plugin_call task = {"start", NULL, NULL, id, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = provider->start(&parallel, error);
    graft_crash_context_end(before);
    status = status == GRAFT_OK
                 ? check(id, parallel, error)
                 : graft_error_complete(error, status, id, "start failed with status %d and recorded no error", status);
    if (status == GRAFT_OK) {
        graft_ranks_set(parallel);
    }
    return status;
}

int graft_parallel_start(const char *const *directories, int32_t n, const char *id, struct graft_error *error) {
    const struct graft_plugin_options wanted = {.allow = &id, .n_allow = 1};
    if (providers != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, id, "the processes are already connected");
    }
    int status = graft_plugins_load(directories, n, &wanted, &providers, error);
    if (status == GRAFT_OK) {
        status = start(id, providers->plugins[0].descriptor->parallel, error);
    }
    if (status != GRAFT_OK) {
        graft_plugin_set_free(providers);
        providers = NULL;
    }
    return status;
}

void graft_parallel_stop(void) {
    if (providers != NULL) {
        const struct graft_plugin *plugin = providers->plugins[0].descriptor;
        const struct graft_plugin_call task = {"stop", NULL, NULL, plugin->id, NULL};
        graft_ranks_set(NULL);
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        plugin->parallel->stop();
        graft_crash_context_end(before);
        graft_plugin_set_free(providers);
        providers = NULL;
    }
}

const struct graft_parallel *graft_parallel_get(void) {
    return graft_ranks_get();
}
