/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MAX_DIRECTORIES = 4 };

static void load_plugins(struct graft_library *library, const char *plugins,
                         const struct graft_library_options *wanted) {
    struct graft_error error = graft_error_none();
    const char *directories[MAX_DIRECTORIES];
    int32_t n = 0;
    char *names = need_memory(strlen(plugins) + 1, 1);
    char *rest = strcpy(names, plugins);
    while (n < MAX_DIRECTORIES && rest != NULL) {
        directories[n++] = rest;
        rest = strchr(rest, ':');
        if (rest != NULL) {
            *rest++ = '\0';
        }
    }
    need(graft_library_load_plugins(library, directories, n, wanted, &error), &error);
    free(names);
}

void runner_open_by(struct runner *runner, const char *directory, const char *plugins,
                    const struct graft_library_options *wanted, const struct graft_model_options *options) {
    struct graft_error error = graft_error_none();
    *runner = (struct runner){0};
    need(graft_library_create(&runner->library, &error), &error);
    if (plugins != NULL) {
        load_plugins(runner->library, plugins, wanted);
    }
    need(graft_model_open(runner->library, directory, options, &runner->model, &error), &error);
    need(graft_model_load(runner->model, &error), &error);
    runner->vocab_size = (size_t)graft_model_vocab_size(runner->model);
}

void runner_open_with(struct runner *runner, const char *directory, const char *plugins,
                      const struct graft_model_options *options) {
    runner_open_by(runner, directory, plugins, NULL, options);
}

void runner_open_fused(struct runner *runner, const char *directory, const char *plugins, int32_t precision,
                       const char *fusion_config) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .precision = precision, .fusion_config = fusion_config};
    runner_open_with(runner, directory, plugins, &options);
}

void runner_open(struct runner *runner, const char *directory, const char *plugins, int32_t precision) {
    runner_open_fused(runner, directory, plugins, precision, NULL);
}

void runner_close(struct runner *runner) {
    graft_model_free(runner->model);
    graft_library_free(runner->library);
}

struct graft_session *runner_session(const struct runner *runner, int32_t slots) {
    struct graft_error error = graft_error_none();
    struct graft_session *session = NULL;
    const struct graft_model *model = runner->model;
    need(graft_model_session(model, slots, &session, &error), &error);
    return session;
}

const float *runner_step(struct graft_session *session, const int32_t *ids, size_t count,
                         enum graft_logits_rows which) {
    static const int32_t slot = 0;
    struct graft_error error = graft_error_none();
    const struct graft_ids_view view = {.ids = ids, .count = count};
    const float *logits = NULL;
    need(graft_session_step(session, &slot, &view, 1, which, &logits, &error), &error);
    return logits;
}

float *runner_logits(const struct runner *runner, const int32_t *ids, size_t count) {
    struct graft_session *session = runner_session(runner, 1);
    float *logits = need_memory(count * runner->vocab_size, sizeof *logits);
    memcpy(logits, runner_step(session, ids, count, GRAFT_LOGITS_ALL), count * runner->vocab_size * sizeof *logits);
    graft_session_free(session);
    return logits;
}

float *runner_continue(const struct runner *runner, const int32_t *ids, size_t count, const int32_t *next, size_t n) {
    struct graft_session *session = runner_session(runner, 1);
    float *rows = need_memory((n + 1) * runner->vocab_size, sizeof *rows);
    const float *row = runner_step(session, ids, count, GRAFT_LOGITS_LAST);
    memcpy(rows, row, runner->vocab_size * sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        row = runner_step(session, &next[i], 1, GRAFT_LOGITS_LAST);
        memcpy(rows + (i + 1) * runner->vocab_size, row, runner->vocab_size * sizeof *rows);
    }
    graft_session_free(session);
    return rows;
}
