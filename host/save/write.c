/* SPDX-License-Identifier: Apache-2.0 */
#include "save/write.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "save/shards.h"
#include "save/stream.h"
#include "save/undo.h"
#include "weights/safetensors_layout.h"

static const int64_t default_shard_bytes = 50000000000;

/* Bytes written between two reports of progress. */
enum { STEP_BYTES = 8 << 20 };

struct writer {
    const struct graft_save_options *options;
    struct save_file file;
    int64_t done; /* bytes of tensors, in all files */
    int64_t total;
};

static int write_step(struct writer *writer, const char *bytes, size_t size, struct graft_error *error) {
    int status = graft_save_file_write(&writer->file, bytes, size, error);
    writer->done += (int64_t)size;
    if (status == GRAFT_OK && writer->options->on_progress != NULL) {
        status = writer->options->on_progress(writer->options->data, writer->done, writer->total, error);
    }
    return status;
}

static int emit(void *data, const void *bytes, size_t size, struct graft_error *error) {
    int status = GRAFT_OK;
    const char *at = bytes;
    while (size > 0 && status == GRAFT_OK) {
        size_t step = size < STEP_BYTES ? size : STEP_BYTES;
        status = write_step(data, at, step, error);
        at += step;
        size -= step;
    }
    return status;
}

static int write_laid_out(struct writer *writer, const struct save_staging *staging, const char *name,
                          const struct save_content *content, const struct graft_tensor_view *views,
                          const struct save_tensor *const *tensors, size_t n,
                          const struct graft_safetensors_layout *layout, struct graft_error *error) {
    int status = graft_save_file_begin(staging, name, &writer->file, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_save_file_write(&writer->file, layout->header.bytes, layout->header.length, error);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct save_tensor *tensor = tensors[layout->order[i] - views];
        status = graft_save_undo_for(content, tensor, error);
        status = status == GRAFT_OK ? graft_save_stream(tensor, emit, writer, error) : status;
    }
    return graft_save_file_end(&writer->file, status, error);
}

static struct graft_tensor_view view_of(const struct save_tensor *tensor) {
    struct graft_tensor_view view = {
        .name = tensor->form.name, .dtype = tensor->form.dtype, .rank = tensor->form.rank, .bytes = tensor->bytes};
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        view.shape[i] = tensor->form.shape[i];
    }
    return view;
}

static int write_shard(struct writer *writer, const struct save_staging *staging, const struct save_content *content,
                       const struct save_shards *shards, size_t shard, const graft_json *metadata,
                       struct graft_error *error) {
    char name[SAVE_SHARD_NAME];
    struct graft_safetensors_layout layout;
    struct graft_tensor_view *views = graft_alloc(content->n_tensors, sizeof *views);
    const struct save_tensor **tensors = graft_alloc(content->n_tensors, sizeof(struct save_tensor *));
    const size_t boundary = writer->options->runtime_layout ? GRAFT_SAFETENSORS_LINE : GRAFT_SAFETENSORS_BOUNDARY;
    size_t n = 0;
    int status = views != NULL && tensors != NULL ? GRAFT_OK : graft_fail_memory(error, "");
    for (size_t i = 0; i < content->n_tensors && status == GRAFT_OK; i++) {
        if (shards->of[i] == shard) {
            views[n] = view_of(&content->tensors[i]);
            tensors[n++] = &content->tensors[i];
        }
    }
    graft_save_shard_name(shards, shard, name);
    if (status == GRAFT_OK) {
        status = graft_safetensors_layout_make(name, views, n, metadata, boundary, &layout, error);
    }
    if (status == GRAFT_OK) {
        status = write_laid_out(writer, staging, name, content, views, tensors, n, &layout, error);
        graft_safetensors_layout_finish(&layout);
    }
    graft_free(views);
    graft_free(tensors);
    return status;
}

int graft_save_write_text(const struct save_staging *staging, const char *name, const struct graft_text *text,
                          struct graft_error *error) {
    struct save_file file;
    int status = text->failed ? graft_fail_memory(error, name) : graft_save_file_begin(staging, name, &file, error);
    return status == GRAFT_OK
               ? graft_save_file_end(&file, graft_save_file_write(&file, text->bytes, text->length, error), error)
               : status;
}

int graft_save_write_tensors(const struct save_staging *staging, const struct save_content *content,
                             const graft_json *metadata, const struct graft_save_options *options,
                             struct graft_error *error) {
    struct writer writer = {.options = options, .total = content->bytes};
    struct save_shards shards;
    int64_t max_bytes = options->max_shard_bytes > 0 ? options->max_shard_bytes : default_shard_bytes;
    int status = graft_save_shards_split(content, max_bytes, &shards, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < shards.n && status == GRAFT_OK; i++) {
        status = write_shard(&writer, staging, content, &shards, i, metadata, error);
    }
    if (status == GRAFT_OK && shards.n > 1) {
        struct graft_text index = {0};
        graft_save_shards_index(&shards, content, &index);
        status = graft_save_write_text(staging, "model.safetensors.index.json", &index, error);
        graft_text_free(&index);
    }
    graft_save_shards_finish(&shards);
    return status;
}
