/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/attention_keep.h"

void *graft_attention_keep(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, size_t size,
                           struct graft_reader *reader, struct graft_error *error) {
    struct graft_parts_attention_sizes *sizes = sink->keep(sink->data, size, error);
    if (sizes == NULL || graft_parts_read_attention_sizes(args, sink->path, sizes, error) != GRAFT_OK) {
        return NULL;
    }
    graft_reader_start(reader, self->data, config, sizes->layer, error);
    return sizes;
}
