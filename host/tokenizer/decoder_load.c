/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the field `decoder`: nested sequences become one chain. */
#include "tokenizer/decoder.h"
#include "tokenizer/sequence.h"

static const struct {
    const char *type;
    const char *own; /* a field by which a value without `type` is recognised */
    graft_decoder_create *create;
} kinds[] = {
    {"ByteLevel", NULL, graft_decoder_create_byte_level},
    {"ByteFallback", NULL, graft_decoder_create_byte_fallback},
    {"Replace", "pattern", graft_decoder_create_replace},
    {"Strip", "start", graft_decoder_create_strip},
    {"Metaspace", NULL, graft_decoder_create_metaspace},
    {"WordPiece", "prefix", graft_decoder_create_wordpiece},
    {"BPEDecoder", "suffix", graft_decoder_create_bpe},
    {"CTC", "pad_token", graft_decoder_create_ctc},
    {"Fuse", NULL, graft_decoder_create_fuse},
};

/* The end of the chain so far. */
struct tail {
    struct graft_decoder **slot;
    size_t n;
    int fused;
};

static int load_one(void *data, const struct graft_field *spec, struct graft_error *error) {
    struct tail *tail = data;
    size_t i;
    int status = graft_sequence_kind(spec, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &i, error);
    if (status == GRAFT_OK) {
        status = kinds[i].create(spec, tail->slot, error);
    }
    if (status == GRAFT_OK) {
        struct graft_decoder *made = *tail->slot;
        made->index = tail->n++;
        made->fused = tail->fused;
        made->collects = tail->fused && !made->takes_parts;
        tail->fused |= made->fuses;
        tail->slot = &made->next;
    }
    return status;
}

int graft_decoder_load(const struct graft_field *spec, struct graft_decoder **chain, struct graft_error *error) {
    struct tail tail = {chain, 0, 0};
    *chain = NULL;
    int status = graft_field_is_none(spec) ? graft_decoder_create_join(spec, chain, error)
                                           : graft_sequence_walk(spec, "decoders", load_one, &tail, error);
    if (status != GRAFT_OK) {
        graft_decoder_destroy(*chain);
        *chain = NULL;
    }
    return status;
}
