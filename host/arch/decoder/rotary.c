/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary angles of a decoder: those of its config, for whole heads. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/rope.h"

static struct graft_rope_info info_of(const struct graft_decoder_config *decoder) {
    return (struct graft_rope_info){
        .struct_size = sizeof(struct graft_rope_info),
        .head_dim = decoder->head_dim,
        .max_position_embeddings = decoder->max_position_embeddings,
        .rope_theta = decoder->rope_theta,
        .mrope_section = {decoder->mrope_section[0], decoder->mrope_section[1], decoder->mrope_section[2]},
        .whole_heads = 1,
    };
}

/* Whether the rotation that the config describes can be made, and is one of whole heads. */
static int check_rope(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                      const struct graft_decoder_config *decoder, const struct graft_rope_service *service,
                      struct graft_error *error) {
    struct graft_config_section section;
    struct graft_rope *rope = NULL;
    const struct graft_config *config = graft_decoder_config_part(whole, traits, &section, error);
    const struct graft_rope_info info = info_of(decoder);
    int status = config != NULL ? service->create(config, &info, &rope, error) : GRAFT_ERROR_MODEL;
    if (status != GRAFT_OK) {
        return status;
    }
    if (service->width(rope) != decoder->head_dim) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: %g is not supported, expected 1: this family rotates whole heads",
                                 graft_config_spelling(config, "partial_rotary_factor"),
                                 (double)service->width(rope) / (double)decoder->head_dim);
    }
    service->destroy(rope);
    return status;
}

int graft_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_config *decoder;
    (void)args;
    int status = graft_decoder_config_keep(config, self->data, sink, &decoder, error);
    return status == GRAFT_OK ? check_rope(config, self->data, decoder, graft_rope_service_of(sink->host), error)
                              : status;
}

int graft_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct graft_config_section section;
    const struct graft_config *config = graft_decoder_config_part(build->config, cls->data, &section, error);
    const struct graft_rope_info info = info_of(build->kept);
    return config != NULL ? graft_parts_rotary_make(build, config, &info, instance, error) : GRAFT_ERROR_MODEL;
}
