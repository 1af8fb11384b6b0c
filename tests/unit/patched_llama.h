/* SPDX-License-Identifier: Apache-2.0 */
/* The golden llama with renamed tensors, and comparisons of files. */
#ifndef GRAFT_TEST_PATCHED_LLAMA_H
#define GRAFT_TEST_PATCHED_LLAMA_H

#include "folder.h"
#include "library_fixture.h"
#include "weights/checkpoint.h"
#include "weights/safetensors_write.h"

enum { PATCHED_LLAMA_TENSORS = 64, PATCHED_LLAMA_VOCABULARY = 583, PATCHED_LLAMA_TOKENS = 3 };

static inline void patched_llama_copy(const char *from, const char *to) {
    char bytes[4096];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    }
    (void)fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Whether two files have the same bytes. */
static inline int patched_llama_same(const char *left, const char *right) {
    FILE *a = fopen(left, "rb"), *b = fopen(right, "rb");
    int c, same = a != NULL && b != NULL;
    while (same && (c = fgetc(a)) == fgetc(b) && c != EOF) {
    }
    same = same && feof(a) && feof(b);
    if (a != NULL) {
        (void)fclose(a);
    }
    if (b != NULL) {
        (void)fclose(b);
    }
    return same;
}

/* Writes the golden llama into a folder, with `from` at the beginning of names replaced by `to`. */
static inline void patched_llama_write(const char *folder, const char *from, const char *to) {
    static char names[PATCHED_LLAMA_TENSORS][256];
    struct graft_tensor_view views[PATCHED_LLAMA_TENSORS];
    struct graft_checkpoint *checkpoint = NULL;
    struct graft_error error = graft_error_none();
    char path[512], config[600];
    assert_int_equal(graft_checkpoint_open(llama_directory(path), &checkpoint, &error), GRAFT_OK);
    size_t n = graft_checkpoint_count(checkpoint);
    assert_in_range(n, 1, PATCHED_LLAMA_TENSORS);
    for (size_t i = 0; i < n; i++) {
        views[i] = *graft_checkpoint_at(checkpoint, i);
        int starts = strncmp(views[i].name, from, strlen(from)) == 0;
        (void)snprintf(names[i], sizeof names[i], "%s%s", starts ? to : "",
                       views[i].name + (starts ? strlen(from) : 0));
        views[i].name = names[i];
    }
    assert_int_equal(graft_safetensors_write(folder_path(folder, "model.safetensors"), views, n, NULL, &error),
                     GRAFT_OK);
    graft_checkpoint_close(checkpoint);
    (void)snprintf(config, sizeof config, "%s/config.json", path);
    patched_llama_copy(config, folder_path(folder, "config.json"));
}

/* The logits of a model that must be able to run. */
static inline void patched_llama_run(struct graft_model *model,
                                     float logits[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY]) {
    static const int32_t ids[PATCHED_LLAMA_TOKENS] = {5, 7, 11};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = PATCHED_LLAMA_TOKENS};
    struct graft_error error = graft_error_none();
    if (graft_model_load(model, &error) != GRAFT_OK ||
        graft_model_logits(model, &prompt, 1, logits, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

#endif
