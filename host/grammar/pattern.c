/* SPDX-License-Identifier: Apache-2.0 */
/* Turns regular expressions of JSON Schema into deterministic automata by subset construction: each state stands for a
 * set of the expression's states. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "grammar/dfa.h"
#include "grammar/expression.h"

struct sets {
    const struct graft_expression *expression;
    struct graft_dfa *made;
    int32_t *members; /* states of all sets, set by set */
    size_t n_members, members_capacity;
    size_t *first; /* [n + 1]: set i has members[first[i]] to members[first[i + 1] - 1], sorted */
    size_t n, capacity;
    unsigned char *is_in; /* [n_states] 1: the state is in `work` */
    int32_t *work;        /* [n_work] states of the set that is being made */
    size_t n_work;
    uint32_t *cuts; /* [2 * n_joins] where the characters of a set's transitions begin and end */
};

static void find(struct sets *sets, int32_t state) {
    if (!sets->is_in[state]) {
        sets->is_in[state] = 1;
        sets->work[sets->n_work++] = state;
    }
}

/* Adds the states that are reached without consuming a character; ^ and $ let through at the start and the end only. */
static void follow(struct sets *sets, int at_begin, int at_end) {
    const struct graft_expression *expression = sets->expression;
    for (size_t i = 0; i < sets->n_work; i++) {
        const int32_t state = sets->work[i];
        for (int32_t j = expression->first_join[state]; j < expression->first_join[state + 1]; j++) {
            const int kind = expression->joins[j].kind;
            if (kind == GRAFT_JOINED_BY_NOTHING || (kind == GRAFT_JOINED_AT_BEGIN && at_begin) ||
                (kind == GRAFT_JOINED_AT_END && at_end)) {
                find(sets, expression->joins[j].to);
            }
        }
    }
}

static void forget(struct sets *sets) {
    for (size_t i = 0; i < sets->n_work; i++) {
        sets->is_in[sets->work[i]] = 0;
    }
    sets->n_work = 0;
}

static int compare_states(const void *left, const void *right) {
    return (*(const int32_t *)left > *(const int32_t *)right) - (*(const int32_t *)left < *(const int32_t *)right);
}

/* Completes the set that is being made and gives its number; an equal set is found again. Set 0, the start, is never
 * found again, because ^ matches only there. */
static int keep(struct sets *sets, int32_t *number) {
    follow(sets, sets->n == 0, 0);
    qsort(sets->work, sets->n_work, sizeof *sets->work, compare_states);
    for (size_t i = 1; i < sets->n; i++) {
        if (sets->first[i + 1] - sets->first[i] == sets->n_work &&
            memcmp(sets->members + sets->first[i], sets->work, sets->n_work * sizeof *sets->work) == 0) {
            *number = (int32_t)i;
            forget(sets);
            return GRAFT_OK;
        }
    }
    for (size_t i = 0; i < sets->n_work; i++) {
        if (graft_grow(&sets->members, &sets->members_capacity, sets->n_members, sizeof *sets->members) != 0) {
            return GRAFT_ERROR_INTERNAL;
        }
        sets->members[sets->n_members++] = sets->work[i];
    }
    if (graft_grow(&sets->first, &sets->capacity, sets->n + 1, sizeof *sets->first) != 0) {
        return GRAFT_ERROR_INTERNAL;
    }
    *number = (int32_t)sets->n++;
    sets->first[sets->n] = sets->n_members;
    forget(sets);
    /* Each new set is compared with all others, so there may not be many. */
    return sets->n <= 3000 && sets->n_members <= (size_t)4 << 20 ? GRAFT_OK : GRAFT_ERROR_USAGE;
}

/* Whether a text may end in set `i`: whether state 1, which accepts, is reached from it. */
static int accepts(struct sets *sets, size_t i) {
    for (size_t j = sets->first[i]; j < sets->first[i + 1]; j++) {
        find(sets, sets->members[j]);
    }
    follow(sets, i == 0, 1);
    const int found = sets->is_in[1];
    forget(sets);
    return found;
}

static int compare_codes(const void *left, const void *right) {
    return (*(const uint32_t *)left > *(const uint32_t *)right) - (*(const uint32_t *)left < *(const uint32_t *)right);
}

/* Collects where the character ranges of a set's transitions begin and end, sorted: between two cuts all characters
 * lead to the same states. */
static size_t find_cuts(struct sets *sets, size_t i) {
    const struct graft_expression *expression = sets->expression;
    size_t n = 0;
    for (size_t j = sets->first[i]; j < sets->first[i + 1]; j++) {
        const int32_t state = sets->members[j];
        for (int32_t k = expression->first_join[state]; k < expression->first_join[state + 1]; k++) {
            if (expression->joins[k].kind == GRAFT_JOINED_BY_CHARACTERS) {
                sets->cuts[n++] = expression->joins[k].first;
                sets->cuts[n++] = expression->joins[k].last + 1;
            }
        }
    }
    qsort(sets->cuts, n, sizeof *sets->cuts, compare_codes);
    return n;
}

static int add_edges(struct sets *sets, size_t i) {
    const struct graft_expression *expression = sets->expression;
    const size_t n = find_cuts(sets, i);
    int status = GRAFT_OK;
    for (size_t cut = 0; cut + 1 < n && status == GRAFT_OK; cut++) {
        const uint32_t code = sets->cuts[cut];
        int32_t to = 0;
        if (code == sets->cuts[cut + 1]) {
            continue;
        }
        for (size_t j = sets->first[i]; j < sets->first[i + 1]; j++) {
            const int32_t state = sets->members[j];
            for (int32_t k = expression->first_join[state]; k < expression->first_join[state + 1]; k++) {
                const struct graft_join *edge = &expression->joins[k];
                if (edge->kind == GRAFT_JOINED_BY_CHARACTERS && edge->first <= code && code <= edge->last) {
                    find(sets, edge->to);
                }
            }
        }
        if (sets->n_work > 0) {
            status = keep(sets, &to);
            status = status == GRAFT_OK ? graft_dfa_add_edge(sets->made, code, sets->cuts[cut + 1] - 1, to) : status;
        }
    }
    return status;
}

static int make_sets(struct sets *sets) {
    const size_t states = (size_t)sets->expression->n_states;
    int32_t start;
    sets->is_in = graft_alloc(states, 1);
    sets->work = graft_alloc(states, sizeof *sets->work);
    sets->cuts = graft_alloc(2 * sets->expression->n_joins + 1, sizeof *sets->cuts);
    if (sets->is_in == NULL || sets->work == NULL || sets->cuts == NULL ||
        graft_grow(&sets->first, &sets->capacity, 0, sizeof *sets->first) != 0) {
        return GRAFT_ERROR_INTERNAL;
    }
    sets->first[0] = 0;
    find(sets, 0);
    int status = keep(sets, &start);
    for (size_t i = 0; i < sets->n && status == GRAFT_OK; i++) {
        status = graft_dfa_add_state(sets->made, accepts(sets, i));
        status = status == GRAFT_OK ? add_edges(sets, i) : status;
    }
    return status;
}

int graft_dfa_pattern(const char *text, size_t length, struct graft_dfa *made, const char **fault) {
    struct graft_expression expression = {0};
    struct sets sets = {.expression = &expression, .made = made};
    *made = (struct graft_dfa){0};
    int status = graft_expression_read(&expression, text, length);
    if (status == GRAFT_OK) {
        status = make_sets(&sets);
    }
    *fault = status != GRAFT_ERROR_USAGE ? NULL : expression.fault != NULL ? expression.fault : "it is too large";
    graft_expression_finish(&expression);
    graft_free(sets.members);
    graft_free(sets.first);
    graft_free(sets.is_in);
    graft_free(sets.work);
    graft_free(sets.cuts);
    if (status != GRAFT_OK) {
        graft_dfa_free(made);
    }
    return status;
}
