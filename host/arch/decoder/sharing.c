/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/sharing.h"

#include <string.h>

#include "arch/decoder/choices.h"

/* Whether layer `layer` has the type `type`, which may be NULL. */
static int is_of_type(struct graft_reader *reader, int64_t layer, const char *type) {
    reader->layer = layer;
    const char *own = graft_read_text(reader, D_LAYER_TYPE);
    return own == type || (own != NULL && type != NULL && strcmp(own, type) == 0);
}

static void read_sizes(struct graft_reader *reader, int64_t layer, struct graft_sharing *sharing) {
    reader->layer = layer;
    const int64_t heads = graft_read_int(reader, D_KV_HEADS), head_dim = graft_read_int(reader, D_HEAD_DIM);
    sharing->key_size = heads * head_dim;
    sharing->value_size =
        graft_read_is_null(reader, D_VALUE_DIM) ? sharing->key_size : heads * graft_read_int(reader, D_VALUE_DIM);
}

void graft_sharing_read(struct graft_reader *reader, int64_t layers, struct graft_sharing *sharing) {
    const int64_t layer = reader->layer;
    const char *type = graft_read_text(reader, D_LAYER_TYPE);
    const int64_t borrowing = graft_read_int(reader, D_SHARED_LAYERS);
    const int64_t first = layers - borrowing; /* the first layer without keys of its own */
    int64_t source = layer < first ? layer : first - 1;
    struct graft_sharing of_source;
    sharing->kv_layer = -1;
    if (reader->status != GRAFT_OK || borrowing == 0) {
        return;
    }
    if (layer < first) { /* a layer with keys of its own: is it the last of its type, and do later layers use it */
        int64_t next = layer + 1;
        while (next < layers && !is_of_type(reader, next, type)) {
            next++;
        }
        source = next >= first && next < layers ? layer : -1;
    } else {
        while (source >= 0 && !is_of_type(reader, source, type)) {
            source--;
        }
    }
    read_sizes(reader, layer, sharing);
    read_sizes(reader, source >= 0 ? source : layer, &of_source);
    reader->layer = layer;
    if (reader->status == GRAFT_OK && layer >= first &&
        (source < 0 || of_source.key_size != sharing->key_size || of_source.value_size != sharing->value_size)) {
        graft_reader_fail(
            reader, D_SHARED_LAYERS,
            "layer %lld has no keys of its own, and none of the first %lld layers is of its type and width",
            (long long)layer, (long long)(first > 0 ? first : 0));
    }
    sharing->kv_layer = (int32_t)source;
}

void graft_sharing_make(const struct graft_sharing *sharing, int64_t layer, const struct graft_pass *pass,
                        struct graft_shared_keys *shared) {
    if (sharing->kv_layer == layer) {
        *shared = (struct graft_shared_keys){
            .struct_size = sizeof *shared,
            .keys = graft_pass_floats(pass, sharing->key_size),
            .values = graft_pass_floats(pass, sharing->value_size),
        };
    }
}
