/* SPDX-License-Identifier: Apache-2.0 */
/* Connects the processes that mpirun started. The code that links MPI is a separate shared object next to this one,
 * which is opened only if the plugin is chosen; so in a directory of plugins this one costs nothing. */
#define _GNU_SOURCE /* dladdr */

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "graft/parallel.h"
#include "graft/plugin.h"

static const struct graft_plugin plugin;
static const struct graft_parallel_provider *ranks; /* of ranks.so, once it is open */

static int open_ranks(struct graft_error *error) {
    Dl_info self;
    char file[PATH_MAX];
    const char *slash = dladdr(&plugin, &self) != 0 ? strrchr(self.dli_fname, '/') : NULL;
    int length = slash != NULL
                     ? snprintf(file, sizeof file, "%.*s/ranks.so", (int)(slash - self.dli_fname), self.dli_fname)
                     : -1;
    if (length < 0 || (size_t)length >= sizeof file) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "mpi", "ranks.so, beside the plugin, cannot be found");
    }
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ranks = object != NULL ? dlsym(object, "mpi_ranks") : NULL;
    return ranks != NULL ? GRAFT_OK
                         : graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "cannot be loaded: %.300s", dlerror());
}

static int start(const struct graft_parallel **parallel, struct graft_error *error) {
    int status = open_ranks(error);
    return status == GRAFT_OK ? ranks->start(parallel, error) : status;
}

static void stop(void) {
    ranks->stop();
}

static const struct graft_parallel_provider provider = {.struct_size = sizeof provider, .start = start, .stop = stop};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "mpi",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Connects processes that mpirun started",
    .parallel = &provider,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
