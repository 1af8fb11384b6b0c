/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates several sequences at once, which can be added and removed at any time: what a server needs.
 *
 *     struct graft_sequences *sequences;
 *     graft_sequences_create(model, NULL, &sequences, &error);
 *     graft_sequences_add(sequences, &prompt, NULL, &number, &error);        // at any time, any number of times
 *     while (graft_sequences_count(sequences) > 0) {
 *         graft_sequences_step(sequences, &tokens, &n, &error);              // one token for each
 *         for (size_t i = 0; i < n; i++) {
 *             const struct graft_sequence_token *token = graft_struct_at(tokens, i); ...
 *         }
 *     }
 *     graft_sequences_free(sequences);
 *
 * A sequence gets the same tokens, and logits with the same bits, whatever other sequences run with it and whenever
 * they join and leave. Therefore prompts are read in pieces with fixed boundaries, and each piece is computed as if it
 * were alone; up to GRAFT_SMALL_BATCH (graft/batch.h) pieces or generated tokens go through the model together.
 *
 * A prompt that begins with the same whole pieces as another one shares that prompt's cache, if the other one is being
 * read or is still cached; only the rest is computed. For models whose modules keep states (graft/state.h), which exist
 * only for a sequence's latest position, this works only while the other prompt has not been read further.
 *
 * Call these functions from one thread at a time, and not while the model generates in another way. For models whose
 * layers are distributed over processes, use graft_model_generate.
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
    /* Sequences that run at once; others wait. Each beam counts as one, and so does the second sequence for guidance.
     * 0: 64 */
    int32_t max_running;
    /* Tokens of a piece of a prompt, at least 64; 0: 512. With smaller pieces, prompts share more, and other sequences
     * wait less while a prompt is read; with larger ones, prompts are read faster. Pieces of several prompts are
     * combined into forwards of at most 512 tokens. */
    int64_t piece_tokens;
    /* Prompt tokens read in a step, rounded up to whole forwards; 0: one forward. If this is larger than piece_tokens,
     * forwards may combine that many tokens, at most 512. */
    int64_t step_tokens;
    /* Limit on the cache of all sequences together: keys, values, states. A sequence reserves memory for its prompt and
     * max_new_tokens when it begins to run, and waits until there is enough. 0: no limit. */
    int64_t max_cache_bytes;
};

#define GRAFT_SEQUENCES_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_sequences_options, max_cache_bytes)

/* Options of a single sequence. */
struct graft_sequence_options {
    uint32_t struct_size;
    int32_t gives_logits; /* 1: tokens come with the logits they were chosen from; not with beams */
    const struct graft_generation
        *generation; /* max_new_tokens, sampling, seed; NULL: the model directory's settings */
    /* [n_stop_ids] ids that end the sequence, besides the model's own; min_length and the like apply to them too */
    const int32_t *stop_ids;
    size_t n_stop_ids;
};

#define GRAFT_SEQUENCE_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_sequence_options, n_stop_ids)

/* [load] Creates an empty set of sequences for a loaded model that generates text and outlives the set. `options` may
 * be NULL. The caller frees it. With max_cache_bytes one token is run, to measure how much memory a token takes. */
int graft_sequences_create(struct graft_model *model, const struct graft_sequences_options *options,
                           struct graft_sequences **sequences, struct graft_error *error);

/* [load] Frees the set, with sequences that are still running. Accepts NULL. */
void graft_sequences_free(struct graft_sequences *sequences);

/* [load] Adds a sequence, which starts in the next step or when there is room. `*number` is never used again for
 * another one. `options` may be NULL. Everything is copied except images, which must stay valid until the sequence has
 * a token or ends. GRAFT_ERROR_USAGE: the prompt is longer than the model has positions for, needs more than
 * max_cache_bytes, or has ids outside of the vocabulary. An error changes nothing. */
int graft_sequences_add(struct graft_sequences *sequences, const struct graft_prompt *prompt,
                        const struct graft_sequence_options *options, int64_t *number, struct graft_error *error);

/* [load] Removes a sequence, waiting or running. GRAFT_ERROR_USAGE if there is none with this number, or if it has
 * already ended. */
int graft_sequences_remove(struct graft_sequences *sequences, int64_t number, struct graft_error *error);

/* [any] The number of sequences, including waiting ones. */
size_t graft_sequences_count(const struct graft_sequences *sequences);

/* [load] Runs one step: reads pieces of prompts, and generates the next token of each sequence whose prompt has been
 * read (several tokens with speculation, graft/host/generate.h). `*tokens` [n] belongs to `sequences` and is valid
 * until the next call of any of these functions; tokens of a sequence are in order, and there may be none while prompts
 * are read. Sequences that end are removed.
 *
 * After an error `*tokens` has the tokens generated before it; the sequences affected are unchanged, and the next step
 * tries again. graft_sequences_get_counts tells which sequence is at fault; the caller should remove that one. */
int graft_sequences_step(struct graft_sequences *sequences, const struct graft_sequence_token **tokens, size_t *n,
                         struct graft_error *error);

/* Counters and current state, for monitoring. */
struct graft_sequences_counts {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t forwards;      /* forwards of the model */
    int64_t prompt_tokens; /* prompt tokens computed */
    int64_t shared_tokens; /* prompt tokens shared with other prompts instead */
    int64_t cache_bytes;   /* bytes of max_cache_bytes reserved now; 0 without a limit */
    int64_t failed;        /* number of the sequence at which the last step failed; -1: none */
};

/* [any] Fills in `counts`, whose struct_size is set. */
void graft_sequences_get_counts(const struct graft_sequences *sequences, struct graft_sequences_counts *counts);

/* --- On disk --- */

/* [load] Writes the keys and values of the longest prompt that was read and is still held, in whole pieces
 * (piece_tokens), to a file. A file of that name is replaced as a whole or not at all. `*tokens` becomes the number of
 * tokens written; it is 0, and nothing is written, if there is no whole piece, or if a file that was loaded has all of
 * them. Models whose modules hold states or that have adapters are GRAFT_ERROR_USAGE, and so are those in which the
 * keys and values of a token depend on later tokens. */
int graft_sequences_save(struct graft_sequences *sequences, const char *path, int64_t *tokens,
                         struct graft_error *error);

/* [load] Loads such a file. Prompts with the same beginning share its pieces, as they do with each other, and results
 * have the same bits as without the file. It occupies one of the max_running places until a sequence needs the place.
 * `*tokens` becomes the number of tokens loaded; 0: all places were occupied. GRAFT_ERROR_VERIFY: the file was written
 * with another model (config or weights), other plugins or replacements, other number types or another instruction set.
 * A damaged file is GRAFT_ERROR_MODEL, an unreadable one GRAFT_ERROR_IO. */
int graft_sequences_load(struct graft_sequences *sequences, const char *path, int64_t *tokens,
                         struct graft_error *error);

/* A folder of such files, for programs that serve many prompts. The least recently used files are removed when it
 * becomes too large. The folder must exist. It may hold files of several models, and several processes may use it at
 * once. Files with other names than "*.session" are left alone, except for what an ended process left of one. */

/* [load] Writes a file as graft_sequences_save does, unless the folder already has one with the same tokens. Before
 * that, removes the least recently used files until all files, with the new one, have at most `max_bytes`. If the new
 * file alone is larger, that is GRAFT_ERROR_IO. */
int graft_sequences_save_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes, int64_t *tokens,
                            struct graft_error *error);

/* [load] Writes, in the same way, the beginnings that several prompts had in common and that are still in the cache:
 * the keys and values of a system prompt, but not of what each user asked. A beginning of which files have three
 * quarters is not written. `*tokens` becomes the number of tokens written. What could not be written is not tried
 * again. */
int graft_sequences_save_shared_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes,
                                   int64_t *tokens, struct graft_error *error);

/* [load] Loads the file that has the longest beginning in common with the prompt `ids` [count], if that is at least one
 * piece longer than what the sequences hold already. Files of other models are skipped, damaged ones removed. */
int graft_sequences_load_from(struct graft_sequences *sequences, const char *folder, const int32_t *ids, size_t count,
                              int64_t *tokens, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
