/* SPDX-License-Identifier: Apache-2.0 */
/* Finds weights in formats that are not supported, in directories without safetensors files. */
#include <dirent.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "weights/checkpoint.h"

/* The first GGUF file by name; NULL if there is none or memory ran out. */
static char *find_gguf(const char *directory) {
    DIR *stream = opendir(directory);
    char *found = NULL;
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        if (graft_ends_with(entry->d_name, ".gguf") && (found == NULL || strcmp(entry->d_name, found) < 0)) {
            graft_free(found);
            found = graft_strdup(entry->d_name);
        }
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    return found;
}

static int has(const char *directory, const char *name) {
    char *path = graft_path_join(directory, name);
    int is_there = path != NULL && graft_file_exists(path);
    graft_free(path);
    return is_there;
}

void graft_checkpoint_hint_unread(const char *directory, struct graft_error *error) {
    static const char *const torch[] = {"pytorch_model.bin", "pytorch_model.bin.index.json"};
    static const char *const others[] = {"tf_model.h5", "flax_model.msgpack"};
    for (size_t i = 0; i < sizeof torch / sizeof torch[0]; i++) {
        if (has(directory, torch[i])) {
            graft_error_hint(error, "%s has to be converted to safetensors", torch[i]);
            return;
        }
    }
    char *gguf = find_gguf(directory);
    if (gguf != NULL) {
        graft_error_hint(error, "%s has to be converted to safetensors", gguf);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0] && gguf == NULL; i++) {
        if (has(directory, others[i])) {
            graft_error_hint(error, "%s is not read: save the model as safetensors", others[i]);
        }
    }
    graft_free(gguf);
}
