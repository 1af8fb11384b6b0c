/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences that a model generates at once and that come and go: what a server needs.
 *
 *     struct graft_sequences *sequences;
 *     graft_sequences_create(model, NULL, &sequences, &error);
 *     graft_sequences_add(sequences, &prompt, NULL, &number, &error);        // at any time, as often as wanted
 *     while (graft_sequences_count(sequences) > 0) {
 *         graft_sequences_step(sequences, &tokens, &n, &error);              // one token of each
 *         for (size_t i = 0; i < n; i++) {
 *             const struct graft_sequence_token *token = graft_struct_at(tokens, i); ...
 *         }
 *     }
 *     graft_sequences_free(sequences);
 *
 * A sequence gets the same tokens, and the same logits to the bit, alone and beside any others, whenever they join and
 * leave. To that end prompts are read in pieces that begin at the same places whoever is there; pieces of up to
 * GRAFT_SMALL_BATCH (graft/batch.h) sequences go through the model together, and so do generated tokens, so many at a
 * time. Each is computed as if it were alone.
 *
 * Where a prompt begins with the same whole pieces as one that is being read, or that has been and still is here, it
 * takes over what those left behind, and only the rest is read. What modules carry beside keys and values
 * (graft/state.h) is known only where a sequence is: of such models, a prompt takes over from one added before it while
 * that one has not been read further.
 *
 * One thread at a time calls these functions, and none of them while the model generates otherwise. For models whose
 * layers are spread over several processes there is graft_model_generate.
 */
#ifndef GRAFT_HOST_SEQUENCES_H
#define GRAFT_HOST_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/generate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;
struct graft_prompt;
struct graft_sequences;

struct graft_sequences_options {
    uint32_t struct_size;
    /* How many run at once; others wait for their turn. Each beam counts, and guidance for one more. 0: 64 */
    int32_t max_running;
    /* Tokens of a piece of a prompt, at least 64; 0: 512. Smaller ones let prompts share more, and others wait less
     * while one is read; larger ones are read faster. As many of several prompts share a forward, at most 512. */
    int64_t piece_tokens;
    /* How many prompt tokens a step reads, rounded up to whole forwards; 0: one forward. With more than piece_tokens,
     * as many may share one, at most 512. */
    int64_t step_tokens;
    /* Bytes that all sequences together may leave behind: keys, values, states. One is given its share, for its prompt
     * and max_new_tokens, when it begins to run, and waits until there is enough. 0: no limit. */
    int64_t max_cache_bytes;
};

#define GRAFT_SEQUENCES_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_sequences_options, max_cache_bytes)

/* How one sequence goes on and ends. */
struct graft_sequence_options {
    uint32_t struct_size;
    int32_t gives_logits; /* 1: each token comes with the logits that it was chosen from; not with beams */
    const struct graft_generation *generation; /* max_new_tokens, sampling, seed; NULL: as the model directory says */
    /* [n_stop_ids]: ids that end it beside the model's own; for min_length and the like they are ends, too */
    const int32_t *stop_ids;
    size_t n_stop_ids;
};

#define GRAFT_SEQUENCE_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_sequence_options, n_stop_ids)

/* [load] Sequences of a loaded model that generates, which outlives them; none yet. `options` may be NULL. The caller
 * frees them. With max_cache_bytes one token is run, to learn what the model keeps of it. */
int graft_sequences_create(struct graft_model *model, const struct graft_sequences_options *options,
                           struct graft_sequences **sequences, struct graft_error *error);

/* [load] Frees them, whatever they are at. Accepts NULL. */
void graft_sequences_free(struct graft_sequences *sequences);

/* [load] Adds a sequence, which joins at the next step, or waits for its turn; `*number` is its own among all that are
 * ever added. `options` may be NULL. Everything is copied but the images, which the caller keeps until the sequence has
 * a token, or ends. A prompt that is longer than the model has positions for, and one that needs more than
 * max_cache_bytes, is GRAFT_ERROR_USAGE; ids outside the vocabulary, too. An error changes nothing. */
int graft_sequences_add(struct graft_sequences *sequences, const struct graft_prompt *prompt,
                        const struct graft_sequence_options *options, int64_t *number, struct graft_error *error);

/* [load] Removes a sequence, waiting or running. GRAFT_ERROR_USAGE if there is none with this number, or if it has
 * already ended. */
int graft_sequences_remove(struct graft_sequences *sequences, int64_t number, struct graft_error *error);

/* [any] How many there are, waiting ones included. */
size_t graft_sequences_count(const struct graft_sequences *sequences);

/* [load] One step: reads pieces of prompts, and gives each sequence whose prompt is done its next token; several with
 * speculation (graft/host/generate.h). `*tokens` [n], in order within a sequence, belongs to `sequences` until the
 * next call of any of these functions; there may be none while prompts are read. Sequences that ended are gone.
 * After an error `*tokens` has what was given before it; sequences that it hit stay as they were, and the next step
 * tries again. graft_sequences_get_counts tells which sequence is at fault; the caller should remove that one. */
int graft_sequences_step(struct graft_sequences *sequences, const struct graft_sequence_token **tokens, size_t *n,
                         struct graft_error *error);

/* What has been computed so far, for whoever watches. */
struct graft_sequences_counts {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t forwards;      /* of the model */
    int64_t prompt_tokens; /* that were read */
    int64_t shared_tokens; /* of prompts, that were taken over from others instead */
    int64_t cache_bytes;   /* reserved now, of max_cache_bytes; 0 without one */
    int64_t failed;        /* the sequence whose next token the last step failed to choose; -1: none */
};

/* [any] Fills `counts`, whose struct_size is set. */
void graft_sequences_get_counts(const struct graft_sequences *sequences, struct graft_sequences_counts *counts);

/* --- On disk --- */

/* [load] Writes the keys and values of the longest prompt that was read and is still held, in whole pieces
 * (piece_tokens), to a file. A file of that name is replaced as a whole or not at all. `*tokens` becomes the number of
 * tokens written; it is 0, and nothing is written, if there is no whole piece, or if a file that was loaded has all of
 * them. Models whose modules hold states or that have adapters are GRAFT_ERROR_USAGE, and so are those in which the
 * keys and values of a token depend on later tokens. */
int graft_sequences_save(struct graft_sequences *sequences, const char *path, int64_t *tokens,
                         struct graft_error *error);

/* [load] Loads such a file. Prompts with the same beginning take whole pieces over from it, as they do from each other,
 * and get the same bits as without it. It occupies one of the max_running places until a sequence needs that. `*tokens`
 * becomes the number of tokens loaded; 0: all places were taken. A file that was written with another model (its config
 * or weights), other plugins or replacements, other number types or another instruction set is GRAFT_ERROR_VERIFY; a
 * damaged one GRAFT_ERROR_MODEL; one that cannot be read GRAFT_ERROR_IO. */
int graft_sequences_load(struct graft_sequences *sequences, const char *path, int64_t *tokens,
                         struct graft_error *error);

/* A folder of such files, for programs that serve many prompts: those that were not used for longest are removed. The
 * folder must exist. It may hold files of several models, and several processes may use it at once; files whose names
 * do not end in ".session", or are what an ended process left of one, are left alone. */

/* [load] Writes what graft_sequences_save would, unless a file of the folder has it already. Before that, files are
 * removed, those not used for longest first, until all together have at most `max_bytes` with the new one. A single one
 * that is larger is GRAFT_ERROR_IO. */
int graft_sequences_save_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes, int64_t *tokens,
                            struct graft_error *error);

/* [load] Writes, in the same way, the beginnings that different prompts have had in common and that are still held:
 * what a system prompt leaves behind, not what each user asked. One that files of the folder have three quarters of is
 * not written. `*tokens` becomes the number of tokens written. What could not be written is not tried again. */
int graft_sequences_save_shared_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes,
                                   int64_t *tokens, struct graft_error *error);

/* [load] Loads the file that has the longest beginning in common with the prompt `ids` [count], of one piece more at
 * least than the sequences hold of it, if there is one. Files of other models are passed over, damaged ones removed. */
int graft_sequences_load_from(struct graft_sequences *sequences, const char *folder, const int32_t *ids, size_t count,
                              int64_t *tokens, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
