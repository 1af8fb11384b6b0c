/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crash_context.h"

#include "base/float_environment.h"

static _Thread_local struct graft_crash_context running;
_Thread_local struct graft_watched graft_crash_context_watched;

struct graft_crash_context *graft_crash_context(void) {
    return &running;
}

struct graft_crash_context graft_crash_context_begin(const struct graft_plugin_call *task) {
    struct graft_crash_context before = running;
    running = (struct graft_crash_context){NULL, task, graft_float_environment()};
    return before;
}

void graft_crash_context_end(struct graft_crash_context before) {
    uint64_t now = graft_float_environment();
    if (now != running.environment) {
        graft_crash_context_blame(now);
        graft_float_environment_set(running.environment);
    }
    running = before;
}

struct graft_watched graft_crash_context_watch(void) {
    struct graft_watched before = graft_crash_context_watched;
    graft_crash_context_watched = (struct graft_watched){.environment = graft_float_environment()};
    return before;
}

void graft_crash_context_blame(uint64_t found) {
    if (graft_crash_context_watched.found == 0) {
        graft_crash_context_watched.found = found;
        graft_crash_context_watched.module = running.module;
        graft_crash_context_watched.task = running.module == NULL ? running.task : NULL;
    }
}

void graft_crash_context_look_closely(void) {
    const uint64_t wanted = graft_crash_context_watched.environment, now = graft_float_environment();
    if (now != wanted && wanted != 0) {
        graft_crash_context_blame(now);
        graft_float_environment_set(wanted);
    }
}

static int fail(const struct graft_watched *fault, struct graft_error *error) {
    const struct graft_module *module = fault->module;
    const struct graft_plugin_call *task = fault->task;
    const char *plugin = module != NULL ? module->plugin : task != NULL ? task->plugin : NULL;
    const char *class_name = module != NULL ? module->class_name : task != NULL ? task->class_name : NULL;
    const char *path = module != NULL ? module->path : task != NULL ? task->path : NULL;
    int status = graft_error_set(
        error, GRAFT_ERROR_PLUGIN, path != NULL ? path : "", "%s of %s%s%s changed the floating-point environment: %s",
        module == NULL && task != NULL ? task->what : "forward", class_name != NULL ? class_name : "the model",
        plugin != NULL ? " of plugin " : "", plugin != NULL ? plugin : "",
        graft_float_environment_change(fault->environment, fault->found));
    graft_error_hint(error, "functions of plugins leave it as they find it (graft/abi.h)");
    return status;
}

int graft_crash_context_unwatch(struct graft_watched before, int status, struct graft_error *error) {
    graft_crash_context_look_closely();
    const struct graft_watched fault = graft_crash_context_watched;
    graft_crash_context_watched = before;
    return status == GRAFT_OK && fault.found != 0 ? fail(&fault, error) : status;
}
