/* SPDX-License-Identifier: Apache-2.0 */
/* Saves fake models beside the checkpoint that they were read from. */
#ifndef GRAFT_TEST_SAVE_FIXTURE_H
#define GRAFT_TEST_SAVE_FIXTURE_H

#include <stdio.h>

#include "bind/bind.h"
#include "fake_plan.h"
#include "save/save.h"

struct saver {
    struct fake_plan fake;
    struct graft_bound *bound;
    char outputs[64]; /* a folder */
    char notes[1024];
};

static inline void saver_init(struct saver *saver) {
    saver->bound = NULL;
    saver->notes[0] = '\0';
    folder_create(saver->outputs);
    fake_plan_init(&saver->fake);
}

static inline void saver_finish(struct saver *saver) {
    graft_bound_free(saver->bound);
    fake_plan_finish(&saver->fake);
    folder_remove(saver->outputs);
}

/* Plans and binds the class with the folder's checkpoint. */
static inline void saver_bind(struct saver *saver, const char *class_name) {
    graft_bound_free(saver->bound);
    saver->bound = NULL;
    assert_int_equal(fake_plan_again(&saver->fake, class_name), GRAFT_OK);
    assert_int_equal(graft_plan_check(saver->fake.plan, &saver->fake.model.error), GRAFT_OK);
    assert_int_equal(graft_bind(saver->fake.plan, &saver->bound, &saver->fake.model.error), GRAFT_OK);
}

static inline void saver_note(void *data, const char *text) {
    struct saver *saver = data;
    size_t length = strlen(saver->notes);
    (void)snprintf(saver->notes + length, sizeof saver->notes - length, "%s\n", text);
}

/* Saves as `name` in the output folder. Returns the status of graft_save, whose error becomes the model's. */
static inline int saver_try(struct saver *saver, const char *name, int runtime, int64_t shard) {
    const struct graft_save_options options = {.struct_size = sizeof options,
                                               .runtime_layout = runtime,
                                               .max_shard_bytes = shard,
                                               .on_note = saver_note,
                                               .data = saver};
    saver->notes[0] = '\0';
    saver->fake.model.error = graft_error_none();
    int status = graft_save(saver->fake.folder, saver->fake.model.tree, saver->fake.plan, NULL,
                            folder_path(saver->outputs, name), &options, &saver->fake.model.error);
    assert_int_equal(status, saver->fake.model.error.code);
    return status;
}

static inline const char *saver_save(struct saver *saver, const char *name, int runtime, int64_t shard) {
    if (saver_try(saver, name, runtime, shard) != GRAFT_OK) {
        fail_msg("%s: %s", saver->fake.model.error.source, saver->fake.model.error.message);
    }
    return folder_path(saver->outputs, name);
}

/* Checks that every tensor of one directory is in the other, and equal. */
static inline void assert_same_tensors(const char *left, const char *right) {
    struct graft_checkpoint *a = NULL, *b = NULL;
    assert_int_equal(graft_checkpoint_open(left, &a, NULL), GRAFT_OK);
    assert_int_equal(graft_checkpoint_open(right, &b, NULL), GRAFT_OK);
    assert_int_equal(graft_checkpoint_count(a), graft_checkpoint_count(b));
    for (size_t i = 0; i < graft_checkpoint_count(a); i++) {
        const struct graft_tensor_view *x = graft_checkpoint_at(a, i), *y = graft_checkpoint_at(b, i);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->dtype, y->dtype);
        assert_int_equal(x->rank, y->rank);
        assert_memory_equal(x->shape, y->shape, sizeof x->shape);
        if (memcmp(x->data, y->data, (size_t)x->bytes) != 0) {
            fail_msg("%s differs", x->name);
        }
    }
    graft_checkpoint_close(a);
    graft_checkpoint_close(b);
}

/* graft_journal.json of the directory that the fake model was read from; the next call overwrites the result. */
static inline const char *saver_journal(const struct saver *saver) {
    static char text[16384];
    FILE *file = fopen(folder_path(saver->fake.folder, "graft_journal.json"), "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_in_range(length, 1, sizeof text - 2);
    text[length] = '\0';
    (void)fclose(file);
    return text;
}

/* Makes a saved directory the one that the fake model is read from. */
static inline void saver_adopt(struct saver *saver, const char *name) {
    folder_remove(saver->fake.folder);
    assert_int_equal(rename(folder_path(saver->outputs, name), saver->fake.folder), 0);
}

#endif
