/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/session.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/fail.h"
#include "graft/causal_lm.h"
#include "kernels/cache.h"
#include "kernels/kernels.h"
#include "parallel/ranks.h"

/* What is known of the sequence in a slot, in addition to its cache. */
struct sequence {
    int64_t length;        /* tokens that it holds */
    int64_t rotary_offset; /* how far rotary positions are ahead, after images */
    int64_t images_end;    /* how many tokens it held when that changed last, or images came */
};

struct graft_session {
    const struct graft_module *model;
    int64_t vocab_size;
    int64_t max_positions; /* 0: no limit */
    int64_t renewal;       /* 0: none */
    int64_t portion;       /* 0: none */
    int32_t stages;
    struct graft_cache *cache;
    struct graft_scratch *scratch;
    struct graft_call call;
    struct sequence *sequences; /* [slots] */
    int32_t *adapters;          /* [slots] */
    int32_t chooses_adapters;   /* whether any of them is not all */
    float *logits;              /* [logits_rows, vocab_size] */
    int64_t logits_rows;
};

int graft_session_create(const struct graft_module *model, int64_t vocab_size, int32_t precision, graft_dtype kv_dtype,
                         int32_t slots, struct graft_session **session, struct graft_error *error) {
    struct graft_session *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, "generation");
    }
    result->model = model;
    result->vocab_size = vocab_size;
    result->stages = 1;
    result->cache = graft_cache_create(slots, kv_dtype);
    result->scratch = graft_scratch_create();
    result->sequences = graft_alloc((size_t)slots, sizeof *result->sequences);
    result->adapters = graft_alloc((size_t)slots, sizeof *result->adapters);
    if (result->cache == NULL || result->scratch == NULL || result->sequences == NULL || result->adapters == NULL) {
        graft_session_free(result);
        return graft_fail_memory(error, "generation");
    }
    for (int32_t i = 0; i < slots; i++) {
        result->adapters[i] = GRAFT_ADAPTER_ALL;
    }
    graft_call_init(&result->call, precision, result->scratch);
    *session = result;
    return GRAFT_OK;
}

void graft_session_free(struct graft_session *session) {
    if (session != NULL) {
        graft_cache_destroy(session->cache);
        graft_scratch_destroy(session->scratch);
        graft_free(session->sequences);
        graft_free(session->adapters);
        graft_free(session->logits);
        graft_free(session);
    }
}

void graft_session_limit(struct graft_session *session, int64_t max_positions) {
    session->max_positions = max_positions;
}

void graft_session_set_renewal(struct graft_session *session, int64_t length) {
    session->renewal = length;
}

int64_t graft_session_renewal(const struct graft_session *session) {
    return session->renewal;
}

void graft_session_set_portion(struct graft_session *session, int64_t tokens) {
    session->portion = tokens;
}

void graft_session_spread(struct graft_session *session, int32_t stages) {
    session->stages = stages;
}

int32_t graft_session_stages(const struct graft_session *session) {
    return session->stages;
}

static int makes_logits(const struct graft_session *session) {
    return session->stages == 1 || graft_ranks_leads();
}

void graft_session_use(struct graft_session *session, const struct graft_attention_implementation *attention,
                       int32_t asked_attention, const struct graft_experts_implementation *experts) {
    session->call.attention = attention;
    session->call.asked_attention = asked_attention ? attention : NULL;
    session->call.experts = experts;
}

void graft_session_choose_adapter(struct graft_session *session, int32_t slot, int32_t adapter) {
    session->adapters[slot] = adapter;
    session->chooses_adapters |= adapter != GRAFT_ADAPTER_ALL;
}

/* What one forward takes of a step. */
struct portion {
    int32_t *slots;              /* [n] */
    struct graft_ids_view *news; /* [n] */
    size_t n;
    size_t unfinished; /* 1: more of the last sequence follows, which gives no logits for its last token yet */
    size_t sequence;   /* where the next portion begins: a sequence of the step, and how many of its tokens are done */
    size_t done;
};

/* The arrays of one ragged batch. */
struct step {
    int64_t tokens;
    int64_t *cu_seqlens; /* [n + 1] */
    int64_t *positions;  /* [tokens] */
    int32_t *ids;        /* [tokens] */
    int32_t *rows;       /* [n_rows] */
    int64_t n_rows;
    int64_t *offsets;           /* [2, n]: of rotary positions, before this step and after it */
    int32_t *adapters;          /* [n] of sequences, then [tokens] of their tokens */
    struct graft_image *images; /* [n_images] */
    size_t n_images;
    int64_t *source_ends; /* [n + 1] cumulated lengths of the sources; NULL, like source_ids: no sequence has one */
    int32_t *source_ids;  /* all sources, one after another */
};

static void step_finish(struct step *step) {
    graft_free(step->cu_seqlens);
    graft_free(step->positions);
    graft_free(step->ids);
    graft_free(step->rows);
    graft_free(step->offsets);
    graft_free(step->adapters);
    graft_free(step->images);
    graft_free(step->source_ends);
    graft_free(step->source_ids);
}

static int check_ids(const struct graft_session *session, const struct graft_ids_view *news, size_t n,
                     struct graft_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (news[i].count == 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "sequence %zu has no tokens", i);
        }
        for (size_t j = 0; j < news[i].count; j++) {
            if (news[i].ids[j] < 0 || news[i].ids[j] >= session->vocab_size) {
                return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                       "token id %ld is outside the model's vocabulary of %lld", (long)news[i].ids[j],
                                       (long long)session->vocab_size);
            }
        }
    }
    return GRAFT_OK;
}

static int check_positions(const struct graft_session *session, const int32_t *slots, const struct graft_ids_view *news,
                           size_t n, struct graft_error *error) {
    for (size_t i = 0; i < n && session->max_positions > 0; i++) {
        int64_t length = session->sequences[slots[i]].length + (int64_t)news[i].count;
        if (length > session->max_positions) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                   "sequence %zu would have %lld tokens, but the model has positions for %lld", i,
                                   (long long)length, (long long)session->max_positions);
        }
    }
    return GRAFT_OK;
}

/* The images of all sequences, one after another. A model that places none leaves the offsets as they are. */
static void place_images(struct step *step, const struct graft_session *session, const int32_t *slots,
                         const struct graft_ids_view *news, size_t n) {
    for (size_t i = 0; i < n; i++) {
        step->offsets[i] = step->offsets[n + i] = session->sequences[slots[i]].rotary_offset;
        for (size_t j = 0; j < news[i].n_images; j++) {
            graft_struct_copy(&step->images[step->n_images], sizeof *step->images, graft_struct_at(news[i].images, j));
            step->images[step->n_images++].sequence = (int32_t)i;
        }
    }
}

/* Gathers the sources of all sequences, if any. */
static int place_sources(struct step *step, const struct graft_ids_view *news, size_t n) {
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        tokens += news[i].n_source;
    }
    if (tokens == 0) {
        return 0;
    }
    step->source_ends = graft_alloc(n + 1, sizeof *step->source_ends);
    step->source_ids = graft_alloc(tokens, sizeof *step->source_ids);
    if (step->source_ends == NULL || step->source_ids == NULL) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        const int64_t at = step->source_ends[i];
        step->source_ends[i + 1] = at + (int64_t)news[i].n_source;
        if (news[i].n_source > 0) {
            memcpy(step->source_ids + at, news[i].source, news[i].n_source * sizeof *news[i].source);
        }
    }
    return 0;
}

static int gives_row(enum graft_logits_rows which, int is_last) {
    return which == GRAFT_LOGITS_ALL || (which == GRAFT_LOGITS_LAST && is_last);
}

static int step_init(struct step *step, const struct graft_session *session, const struct portion *portion,
                     enum graft_logits_rows which) {
    const int32_t *slots = portion->slots;
    const struct graft_ids_view *news = portion->news;
    size_t n = portion->n;
    size_t tokens = 0;
    size_t images = 0;
    for (size_t i = 0; i < n; i++) {
        tokens += news[i].count;
        images += news[i].n_images;
    }
    *step = (struct step){.tokens = (int64_t)tokens};
    step->cu_seqlens = graft_alloc(n + 1, sizeof *step->cu_seqlens);
    step->positions = graft_alloc(tokens, sizeof *step->positions);
    step->ids = graft_alloc(tokens, sizeof *step->ids);
    step->rows = graft_alloc(tokens, sizeof *step->rows);
    step->offsets = graft_alloc(2 * n, sizeof *step->offsets);
    step->adapters = graft_alloc(n + tokens, sizeof *step->adapters);
    step->images = graft_alloc(images + 1, sizeof *step->images);
    if (step->cu_seqlens == NULL || step->positions == NULL || step->ids == NULL || step->rows == NULL ||
        step->offsets == NULL || step->adapters == NULL || step->images == NULL || place_sources(step, news, n) != 0) {
        return -1;
    }
    place_images(step, session, slots, news, n);
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t last =
            i + 1 < n || !portion->unfinished ? news[i].count : 0; /* counted from 1; 0: not in this portion */
        for (size_t j = 0; j < news[i].count; j++, at++) {
            step->ids[at] = news[i].ids[j];
            step->adapters[n + (size_t)at] = session->adapters[slots[i]];
            step->positions[at] = session->sequences[slots[i]].length + (int64_t)j;
            if (makes_logits(session) && gives_row(which, j + 1 == last)) {
                step->rows[step->n_rows++] = (int32_t)at;
            }
        }
        step->adapters[i] = session->adapters[slots[i]];
        step->cu_seqlens[i + 1] = at;
    }
    return 0;
}

static int reserve_logits(struct graft_session *session, int64_t rows) {
    if (rows <= session->logits_rows) {
        return 0;
    }
    float *logits = graft_realloc(session->logits, (size_t)rows, (size_t)session->vocab_size * sizeof *logits);
    if (logits == NULL) {
        return -1;
    }
    session->logits = logits;
    session->logits_rows = rows;
    return 0;
}

static int run(struct graft_session *session, const struct step *step, const int32_t *slots, size_t n, float *logits,
               struct graft_error *error) {
    struct graft_batch batch = {
        .struct_size = sizeof batch,
        .sequences = (int32_t)n,
        .tokens = step->tokens,
        .cu_seqlens = step->cu_seqlens,
        .positions = step->positions,
        .slots = slots,
        .cache = session->cache,
        .rotary_offsets = step->offsets,
        .next_rotary_offsets = step->offsets + n,
        .adapters = session->chooses_adapters ? step->adapters : NULL,
        .source_cu_seqlens = step->source_ends,
        .source_ids = step->source_ids,
    };
    const struct graft_row_adapters rows = {
        .struct_size = sizeof rows, .rows = step->tokens, .adapters = step->adapters + n};
    struct graft_call call = session->call;
    call.row_adapters = session->chooses_adapters ? &rows : NULL;
    call.running = &graft_crash_context()->module; /* of the thread that performs this step */
    struct graft_causal_lm_args args = {
        .struct_size = sizeof args,
        .batch = &batch,
        .input_ids = step->ids,
        .n_rows = step->n_rows,
        .rows = step->rows,
        .logits = logits,
        .images = step->images,
        .n_images = (int32_t)step->n_images,
        .image_stride = sizeof *step->images,
    };
    struct graft_error own = graft_error_none(); /* modules stop once an error is recorded */
    const struct graft_watched before = graft_crash_context_watch();
    int status = graft_causal_lm_forward(session->model, &call, &args, &own);
    return graft_crash_context_unwatch(before, graft_fail_with(error, &own, status), error);
}

/* Completes a step in all sequences, or undoes it in all of them if it failed, since only some modules have run. */
static void end_step(struct graft_session *session, const struct step *step, const int32_t *slots, size_t n,
                     int status) {
    for (size_t i = 0; i < n; i++) {
        struct sequence *sequence = &session->sequences[slots[i]];
        if (status != GRAFT_OK) {
            (void)graft_cache_rewind(session->cache, slots[i], sequence->length, &sequence->length, NULL);
            continue;
        }
        sequence->length += step->cu_seqlens[i + 1] - step->cu_seqlens[i];
        if (step->offsets[n + i] != sequence->rotary_offset) {
            sequence->rotary_offset = step->offsets[n + i];
            sequence->images_end = sequence->length;
        }
    }
    for (size_t j = 0; j < step->n_images && status == GRAFT_OK; j++) {
        struct sequence *sequence = &session->sequences[slots[step->images[j].sequence]];
        sequence->images_end = sequence->length;
    }
}

/* Runs one portion; its logits are written after the existing `rows`, whose count is increased. */
static int run_portion(struct graft_session *session, const struct portion *portion, enum graft_logits_rows which,
                       int64_t *rows, struct graft_error *error) {
    struct step step = {0};
    int status = GRAFT_OK;
    if (step_init(&step, session, portion, which) != 0 || reserve_logits(session, *rows + step.n_rows) != 0) {
        status = graft_fail_memory(error, "generation");
    } else {
        float *logits = session->logits != NULL ? session->logits + *rows * session->vocab_size : NULL;
        status = run(session, &step, portion->slots, portion->n, logits, error);
        end_step(session, &step, portion->slots, portion->n, status);
        *rows += step.n_rows;
    }
    step_finish(&step);
    return status;
}

/* The most tokens of one forward: all, unless there is a limit. Tokens with images are in one forward. */
static size_t portion_size(const struct graft_session *session, const struct graft_ids_view *news, size_t n) {
    size_t size = session->portion > 0 ? (size_t)session->portion : SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size = news[i].n_images > 0 ? SIZE_MAX : size;
    }
    return size;
}

/* Fills in the next portion: at most `size` tokens, in the order of the sequences. A sequence is not cut so that either
 * side has few enough tokens to be a small batch, so results do not depend on where it is cut. A sequence with a source
 * gets a portion of its own, because the source adds any number of tokens. */
static void cut_portion(struct portion *portion, const int32_t *slots, const struct graft_ids_view *news, size_t n,
                        size_t size) {
    size_t room = size;
    portion->n = 0;
    portion->unfinished = 0;
    while (portion->sequence < n && room > 0 && !portion->unfinished) {
        struct graft_ids_view piece = news[portion->sequence];
        size_t left = piece.count - portion->done;
        size_t count = left <= room ? left : left <= room + GRAFT_SMALL_BATCH ? left - GRAFT_SMALL_BATCH - 1 : room;
        if ((count < left && count <= GRAFT_SMALL_BATCH && portion->n > 0) || (piece.n_source > 0 && portion->n > 0)) {
            return;
        }
        if (portion->done > 0) {
            piece.n_source = 0;
        }
        piece.ids += portion->done;
        piece.count = count;
        portion->slots[portion->n] = slots[portion->sequence];
        portion->news[portion->n++] = piece;
        portion->unfinished = count < left;
        portion->done = portion->unfinished ? portion->done + count : 0;
        portion->sequence += !portion->unfinished;
        room = piece.n_source > 0 ? 0 : room - count;
    }
}

/* Adds a margin, so that the memory does not have to grow right after a prompt. */
static int64_t with_margin(int64_t tokens) {
    return tokens + tokens / 8 + GRAFT_SMALL_BATCH;
}

/* Runs portion after portion; if one fails, the earlier ones are undone. */
static int run_portions(struct graft_session *session, struct portion *portion, int64_t *lengths, const int32_t *slots,
                        const struct graft_ids_view *news, size_t n, enum graft_logits_rows which,
                        struct graft_error *error) {
    size_t size = portion_size(session, news, n);
    int64_t rows = 0;
    int status = GRAFT_OK;
    for (size_t i = 0; i < n; i++) {
        lengths[i] = session->sequences[slots[i]].length;
        if (news[i].count > size) {
            graft_kv_cache_expect(session->cache->kv, slots[i], with_margin(lengths[i] + (int64_t)news[i].count));
        }
    }
    while (status == GRAFT_OK && portion->sequence < n) {
        cut_portion(portion, slots, news, n, size);
        status = run_portion(session, portion, which, &rows, error);
    }
    for (size_t i = 0; i < n && status != GRAFT_OK; i++) {
        struct sequence *sequence = &session->sequences[slots[i]];
        (void)graft_cache_rewind(session->cache, slots[i], lengths[i], &sequence->length, NULL);
    }
    return status;
}

int graft_session_step(struct graft_session *session, const int32_t *slots, const struct graft_ids_view *news, size_t n,
                       enum graft_logits_rows which, const float **logits, struct graft_error *error) {
    int64_t *lengths = NULL;
    struct portion portion = {0};
    int status = check_ids(session, news, n, error);
    if (status == GRAFT_OK) {
        status = check_positions(session, slots, news, n, error);
    }
    if (status == GRAFT_OK) {
        portion.slots = graft_alloc(n, sizeof *portion.slots);
        portion.news = graft_alloc(n, sizeof *portion.news);
        lengths = graft_alloc(n, sizeof *lengths);
        status = portion.slots != NULL && portion.news != NULL && lengths != NULL
                     ? run_portions(session, &portion, lengths, slots, news, n, which, error)
                     : graft_fail_memory(error, "generation");
    }
    *logits = makes_logits(session) ? session->logits : NULL;
    graft_free(portion.slots);
    graft_free(portion.news);
    graft_free(lengths);
    return status;
}

int64_t graft_session_token_bytes(const struct graft_session *session, int32_t slot) {
    return graft_kv_cache_token_bytes(session->cache->kv, slot);
}

int64_t graft_session_state_bytes(const struct graft_session *session, int32_t slot) {
    return graft_states_bytes(session->cache->states, slot);
}

void graft_session_expect(struct graft_session *session, int32_t slot, int64_t tokens) {
    graft_kv_cache_expect(session->cache->kv, slot, tokens);
}

void graft_session_release(struct graft_session *session, int32_t slot) {
    graft_cache_release(session->cache, slot);
    session->sequences[slot] = (struct sequence){0};
}

int graft_session_rewind(struct graft_session *session, int32_t slot, int64_t length, int64_t *reached,
                         struct graft_error *error) {
    struct sequence *sequence = &session->sequences[slot];
    length = length < sequence->length ? length : sequence->length;
    int status = graft_cache_rewind(session->cache, slot, length, reached, error);
    if (status == GRAFT_OK && *reached < sequence->images_end) {
        status = graft_cache_rewind(session->cache, slot, 0, reached, error);
    }
    if (status == GRAFT_OK && *reached == 0) {
        *sequence = (struct sequence){0};
    } else if (status == GRAFT_OK) {
        sequence->length = *reached;
    }
    return status;
}

int graft_session_fork(struct graft_session *session, int32_t from, int32_t to, struct graft_error *error) {
    int status = graft_cache_fork(session->cache, from, to, error);
    session->sequences[to] = status == GRAFT_OK ? session->sequences[from] : (struct sequence){0};
    session->adapters[to] = session->adapters[from];
    return status;
}

int graft_session_share(struct graft_session *session, int32_t from, int32_t to, int64_t length, int *done,
                        struct graft_error *error) {
    int status = graft_cache_share(session->cache, from, session->cache, to, length, done, error);
    if (status != GRAFT_OK || *done) {
        session->sequences[to] = (struct sequence){.length = *done ? length : 0};
    }
    return status;
}

struct graft_kv_cache *graft_session_kv(const struct graft_session *session) {
    return session->cache->kv;
}

void graft_session_set_length(struct graft_session *session, int32_t slot, int64_t length) {
    session->sequences[slot] = (struct sequence){.length = length};
}
