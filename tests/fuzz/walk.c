/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/walk.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "grammar/matcher.h"

enum { BYTES = 256, END = BYTES, SIZE };

static struct graft_trie *make_trie(void) {
    char *bytes = graft_alloc(BYTES, 1);
    size_t *places = graft_alloc(SIZE + 1, sizeof *places);
    if (bytes == NULL || places == NULL) {
        abort();
    }
    for (size_t i = 0; i <= SIZE; i++) {
        places[i] = i < BYTES ? i : BYTES;
        bytes[i < BYTES ? i : BYTES - 1] = (char)(i < BYTES ? i : BYTES - 1);
    }
    return graft_trie_create(bytes, places, SIZE);
}

/* Adds a random token that fits. Returns 0 at the end of the text, or if the grammar reported that it met a limit. */
static int take_step(struct graft_matcher *matcher, uint32_t *seed, int only_largest) {
    static const int32_t end = END;
    const struct graft_matcher_ends ends = {&end, 1};
    struct graft_error error = graft_error_none();
    float scores[SIZE];
    int left = 0, best = 0;
    for (int i = 0; i < SIZE; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        scores[i] = (float)(*seed >> 8);
    }
    const int may_end = graft_matcher_may_end(matcher);
    if (graft_matcher_mask(matcher, &ends, only_largest, scores, SIZE, &left, &error) != GRAFT_OK) {
        return error.message[0] != '\0' ? 0 : (abort(), 0);
    }
    for (int i = 1; i < SIZE; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    if (!left || (best == END && !may_end)) {
        abort();
    }
    if (best == END) {
        return 0;
    }
    if (graft_matcher_take_token(matcher, best, &error) != GRAFT_OK) {
        return 0;
    }
    if (graft_matcher_is_dead(matcher)) {
        abort();
    }
    return 1;
}

/* Takes ownership of the rules, which are finished. */
static void walk(struct graft_rules *rules, uint32_t seed) {
    /* Far deeper than a text of this length needs. Deeper states are dropped, so the rest of the text might never
     * end. */
    enum { STEPS = 60 };
    static const struct graft_machine_limits limits = {.bytes = 1 << 16, .configs = 300, .depth = 100000};
    struct graft_trie *trie = make_trie();
    struct graft_grammar_core *core = trie != NULL ? graft_grammar_core_create(rules, trie, &limits) : NULL;
    struct graft_matcher *matcher = core != NULL ? graft_matcher_create(core, NULL) : NULL;
    for (int i = 0; i < STEPS && matcher != NULL && take_step(matcher, &seed, i % 2); i++) {
    }
    graft_matcher_destroy(matcher);
    graft_grammar_core_destroy(core);
    graft_trie_destroy(trie);
}

void use_rules(struct graft_rules *rules, int status, const char *source, struct graft_error *error, uint32_t seed) {
    if (status == GRAFT_OK) {
        status = graft_rules_finish(rules, source, error);
    }
    if (status != error->code || (status != GRAFT_OK && error->message[0] == '\0')) {
        abort();
    }
    if (status == GRAFT_OK) {
        walk(rules, seed);
    }
    graft_rules_free(rules);
}
