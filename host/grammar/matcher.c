/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/matcher.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

/* MOST_MASKS: masks that are cached, one for each set; TRIES: tokens tried one by one before a mask is made. */
enum { MOST_MASKS = 512, TRIES = 16 };

struct graft_grammar_core {
    pthread_mutex_t lock;
    struct graft_rules rules;
    struct graft_machine *machine;
    const struct graft_trie *trie;
    size_t words;     /* 32-bit words of a mask */
    uint32_t *masks;  /* [n_masks, words] bit i: token i fits */
    int32_t *mask_of; /* [n_sets] index of the set's mask + 1; 0: none */
    size_t n_masks, masks_capacity;
    size_t n_sets, sets_capacity;
    int32_t *path; /* [deepest + 1] the set at each depth of the trie, on the way to the current node */
};

struct graft_matcher {
    struct graft_grammar_core *core;
    struct graft_place place;
};

struct graft_grammar_core *graft_grammar_core_create(struct graft_rules *rules_take, const struct graft_trie *trie,
                                                     const struct graft_machine_limits *limits) {
    struct graft_grammar_core *core = graft_alloc(1, sizeof *core);
    if (core == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&core->lock, NULL) != 0) {
        graft_free(core);
        return NULL;
    }
    core->rules = *rules_take;
    core->trie = trie;
    core->words = (trie->size + 31) / 32;
    core->path = graft_alloc(trie->deepest + 1, sizeof *core->path);
    core->machine = core->path != NULL ? graft_machine_create(&core->rules, limits) : NULL;
    if (core->machine == NULL) {
        core->rules = (struct graft_rules){0}; /* still belongs to the caller */
        graft_grammar_core_destroy(core);
        return NULL;
    }
    *rules_take = (struct graft_rules){0};
    return core;
}

void graft_grammar_core_destroy(struct graft_grammar_core *core) {
    if (core != NULL) {
        (void)pthread_mutex_destroy(&core->lock);
        graft_machine_destroy(core->machine);
        graft_rules_free(&core->rules);
        graft_free(core->masks);
        graft_free(core->mask_of);
        graft_free(core->path);
        graft_free(core);
    }
}

struct graft_matcher *graft_matcher_create(struct graft_grammar_core *core, const struct graft_matcher *from) {
    struct graft_matcher *matcher = graft_alloc(1, sizeof *matcher);
    if (matcher != NULL) {
        matcher->core = core;
        (void)pthread_mutex_lock(&core->lock);
        graft_place_begin(core->machine, &matcher->place, from != NULL ? &from->place : NULL);
        (void)pthread_mutex_unlock(&core->lock);
    }
    return matcher;
}

void graft_matcher_destroy(struct graft_matcher *matcher) {
    if (matcher != NULL) {
        (void)pthread_mutex_lock(&matcher->core->lock);
        graft_place_end(matcher->core->machine, &matcher->place);
        (void)pthread_mutex_unlock(&matcher->core->lock);
        graft_free(matcher);
    }
}

static int fail(const struct graft_grammar_core *core, struct graft_error *error) {
    return graft_machine_fault(core->machine) == GRAFT_ERROR_USAGE
               ? graft_error_set(error, GRAFT_ERROR_USAGE, "grammar",
                                 "what was said so far can be read in too many ways at once")
               : graft_fail_memory(error, "grammar");
}

static void forget_masks(struct graft_grammar_core *core) {
    core->n_masks = 0;
    if (core->mask_of != NULL) {
        memset(core->mask_of, 0, core->n_sets * sizeof *core->mask_of);
    }
}

static int32_t walk(struct graft_grammar_core *core, int32_t set, const char *bytes, size_t length) {
    for (size_t i = 0; i < length && set > GRAFT_SET_DEAD; i++) {
        set = graft_machine_step(core->machine, set, (unsigned char)bytes[i]);
    }
    return set;
}

int graft_matcher_take(struct graft_matcher *matcher, const char *bytes, size_t length, struct graft_error *error) {
    struct graft_grammar_core *core = matcher->core;
    int status = GRAFT_OK;
    (void)pthread_mutex_lock(&core->lock);
    const int32_t set = walk(core, matcher->place.set, bytes, length);
    if (set == GRAFT_SET_FAILED) {
        status = fail(core, error);
    } else {
        matcher->place.set = set;
        const int tidied = graft_machine_tidy(core->machine);
        if (tidied != 0) {
            forget_masks(core);
        }
        status = tidied < 0 ? fail(core, error) : GRAFT_OK;
    }
    (void)pthread_mutex_unlock(&core->lock);
    return status;
}

int graft_matcher_take_token(struct graft_matcher *matcher, int32_t id, struct graft_error *error) {
    const struct graft_trie *trie = matcher->core->trie;
    if (id < 0 || (size_t)id >= trie->size || trie->places[id] == trie->places[id + 1]) {
        matcher->place.set = GRAFT_SET_DEAD;
        return GRAFT_OK;
    }
    return graft_matcher_take(matcher, trie->bytes + trie->places[id], trie->places[id + 1] - trie->places[id], error);
}

int graft_matcher_may_end(const struct graft_matcher *matcher) {
    (void)pthread_mutex_lock(&matcher->core->lock);
    const int may = graft_machine_may_end(matcher->core->machine, matcher->place.set);
    (void)pthread_mutex_unlock(&matcher->core->lock);
    return may;
}

int graft_matcher_is_dead(const struct graft_matcher *matcher) {
    return matcher->place.set == GRAFT_SET_DEAD;
}

/* --- All tokens --- */

static int fill_mask(struct graft_grammar_core *core, int32_t set, uint32_t *mask) {
    const struct graft_trie *trie = core->trie;
    const struct graft_trie_node *nodes = trie->nodes;
    memset(mask, 0, core->words * sizeof *mask);
    core->path[0] = set;
    for (size_t i = 0; i < trie->n_nodes;) {
        const struct graft_trie_node *node = &nodes[i];
        const int32_t next = graft_machine_step(core->machine, core->path[node->depth], node->byte);
        if (next == GRAFT_SET_FAILED) {
            return -1;
        }
        if (next == GRAFT_SET_DEAD) {
            i = (size_t)node->end;
            continue;
        }
        if (node->end > (int32_t)i + 1) {
            core->path[node->depth + 1] = next;
        }
        for (int32_t j = node->first_token; j < node[1].first_token; j++) {
            const uint32_t id = (uint32_t)trie->ids[j];
            mask[id / 32] |= UINT32_C(1) << id % 32;
        }
        i++;
    }
    return 0;
}

static int reserve(struct graft_grammar_core *core, size_t sets) {
    while (core->n_sets < sets) {
        if (graft_grow(&core->mask_of, &core->sets_capacity, core->n_sets, sizeof *core->mask_of) != 0) {
            return -1;
        }
        core->mask_of[core->n_sets++] = 0;
    }
    return graft_grow(&core->masks, &core->masks_capacity, core->n_masks, core->words * sizeof *core->masks);
}

/* The mask of a set, which is made when it is first asked for; NULL on failure. */
static const uint32_t *mask_of(struct graft_grammar_core *core, int32_t set) {
    const size_t words = core->words;
    if ((size_t)set < core->n_sets && core->mask_of[set] > 0) {
        return core->masks + (size_t)(core->mask_of[set] - 1) * words;
    }
    if (core->n_masks == MOST_MASKS) {
        forget_masks(core);
    }
    if (reserve(core, (size_t)set + 1) != 0) {
        return NULL;
    }
    uint32_t *mask = core->masks + core->n_masks * words;
    if (fill_mask(core, set, mask) != 0) {
        return NULL;
    }
    core->mask_of[set] = (int32_t)++core->n_masks;
    return mask;
}

static int is_end(const struct graft_matcher_ends *ends, size_t id) {
    for (size_t i = 0; i < ends->n; i++) {
        if ((size_t)ends->ids[i] == id) {
            return 1;
        }
    }
    return 0;
}

static float score_of(const float *scores, size_t n, int32_t id) {
    return id >= 0 && (size_t)id < n ? scores[id] : -INFINITY;
}

/* Applies a word of a mask to the scores [n] of its ids. Returns whether a score above -INFINITY is left. */
static int keep(uint32_t bits, float *scores, size_t n) {
    int left = 0;
    for (size_t i = 0; i < n; i++) {
        scores[i] = bits >> i & 1 ? scores[i] : -INFINITY;
        left |= scores[i] > -INFINITY;
    }
    return left;
}

/* Applies a mask to all scores, and lets `ends` through where the text may end; `kept` [ends->n] is scratch. Returns
 * whether a score above -INFINITY is left. */
static int apply(const uint32_t *mask, size_t words, const struct graft_matcher_ends *ends, int may_end, float *kept,
                 float *scores, size_t n) {
    int left = 0;
    for (size_t i = 0; i < ends->n; i++) {
        kept[i] = may_end ? score_of(scores, n, ends->ids[i]) : -INFINITY;
    }
    for (size_t i = 0; i < n; i += 32) {
        left |= keep(i / 32 < words ? mask[i / 32] : 0, scores + i, n - i < 32 ? n - i : 32);
    }
    for (size_t i = 0; i < ends->n; i++) {
        if (ends->ids[i] >= 0 && (size_t)ends->ids[i] < n) {
            scores[ends->ids[i]] = kept[i];
            left |= kept[i] > -INFINITY;
        }
    }
    return left;
}

/* --- The largest first --- */

static size_t find_largest(const float *scores, size_t n) {
    enum { LANES = 16 };
    float best[LANES];
    float largest = -INFINITY;
    size_t i = 0;
    for (size_t j = 0; j < LANES; j++) {
        best[j] = -INFINITY;
    }
    for (; i + LANES <= n; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            best[j] = scores[i + j] > best[j] ? scores[i + j] : best[j];
        }
    }
    for (size_t j = 0; j < LANES; j++) {
        largest = best[j] > largest ? best[j] : largest;
    }
    for (; i < n; i++) {
        largest = scores[i] > largest ? scores[i] : largest;
    }
    for (i = 0; i < n && !(scores[i] == largest); i++) {
    }
    return i < n ? i : 0;
}

/* Whether a token fits; -1: the machine failed. */
static int fits(struct graft_grammar_core *core, int32_t set, const struct graft_matcher_ends *ends, size_t id) {
    const struct graft_trie *trie = core->trie;
    if (is_end(ends, id)) {
        return graft_machine_may_end(core->machine, set);
    }
    if (id >= trie->size || trie->places[id] == trie->places[id + 1]) {
        return 0;
    }
    set = walk(core, set, trie->bytes + trie->places[id], trie->places[id + 1] - trie->places[id]);
    return set == GRAFT_SET_FAILED ? -1 : set != GRAFT_SET_DEAD;
}

/* Discards the largest scores while their tokens do not fit, TRIES at most. Returns 1 if the largest that is left
 * belongs to a token that fits; 0 if that is not known, and a mask is needed; -1 on failure. */
static int try_largest(struct graft_grammar_core *core, int32_t set, const struct graft_matcher_ends *ends,
                       float *scores, size_t n) {
    for (int i = 0; i < TRIES; i++) {
        const size_t id = find_largest(scores, n);
        if (!(scores[id] > -INFINITY)) {
            return 0;
        }
        const int found = fits(core, set, ends, id);
        if (found != 0) {
            return found;
        }
        scores[id] = -INFINITY;
    }
    return 0;
}

int graft_matcher_mask(struct graft_matcher *matcher, const struct graft_matcher_ends *ends, int only_largest,
                       float *scores, size_t n, int *left, struct graft_error *error) {
    struct graft_grammar_core *core = matcher->core;
    int status = GRAFT_OK;
    float *kept = graft_alloc(ends->n, sizeof *kept);
    if (kept == NULL) {
        return graft_fail_memory(error, "grammar");
    }
    (void)pthread_mutex_lock(&core->lock);
    const int32_t set = matcher->place.set;
    const int found = only_largest ? try_largest(core, set, ends, scores, n) : 0;
    const uint32_t *mask = found == 0 ? mask_of(core, set) : NULL;
    if (found > 0) {
        *left = 1;
    } else if (mask == NULL) {
        status = fail(core, error);
    } else {
        *left = apply(mask, core->words, ends, graft_machine_may_end(core->machine, set), kept, scores, n);
    }
    (void)pthread_mutex_unlock(&core->lock);
    graft_free(kept);
    return status;
}
