/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/dfa.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

void graft_dfa_free(struct graft_dfa *dfa) {
    graft_free(dfa->states);
    graft_free(dfa->edges);
    *dfa = (struct graft_dfa){0};
}

int graft_dfa_add_state(struct graft_dfa *dfa, int accepts) {
    if (dfa->n_states == GRAFT_DFA_MOST_STATES) {
        return GRAFT_ERROR_USAGE;
    }
    if (graft_grow(&dfa->states, &dfa->states_capacity, dfa->n_states, sizeof *dfa->states) != 0) {
        return GRAFT_ERROR_INTERNAL;
    }
    dfa->states[dfa->n_states++] = (struct graft_dfa_state){dfa->n_edges, 0, accepts};
    return GRAFT_OK;
}

int graft_dfa_add_edge(struct graft_dfa *dfa, uint32_t first, uint32_t last, int32_t to) {
    struct graft_dfa_state *state = &dfa->states[dfa->n_states - 1];
    struct graft_dfa_edge *before = state->n_edges > 0 ? &dfa->edges[dfa->n_edges - 1] : NULL;
    if (before != NULL && before->to == to && before->last + 1 == first) {
        before->last = last;
        return GRAFT_OK;
    }
    if (dfa->n_edges >= (size_t)50 * GRAFT_DFA_MOST_STATES) {
        return GRAFT_ERROR_USAGE;
    }
    if (graft_grow(&dfa->edges, &dfa->edges_capacity, dfa->n_edges, sizeof *dfa->edges) != 0) {
        return GRAFT_ERROR_INTERNAL;
    }
    dfa->edges[dfa->n_edges++] = (struct graft_dfa_edge){first, last, to};
    state->n_edges++;
    return GRAFT_OK;
}

int graft_dfa_lengths(int64_t least, int64_t most, struct graft_dfa *made) {
    const int64_t last = most < 0 ? least : most;
    int status = last < GRAFT_DFA_MOST_STATES ? GRAFT_OK : GRAFT_ERROR_USAGE;
    *made = (struct graft_dfa){0};
    for (int64_t i = 0; i <= last && status == GRAFT_OK; i++) {
        status = graft_dfa_add_state(made, i >= least);
        if (status == GRAFT_OK && (i < last || most < 0)) {
            status = graft_dfa_add_edge(made, 0, GRAFT_LAST_CHARACTER, (int32_t)(i < last ? i + 1 : i));
        }
    }
    if (status != GRAFT_OK) {
        graft_dfa_free(made);
    }
    return status;
}

/* texts[begin] to texts[end - 1], which have their first `at` bytes in common: they share a state. */
struct alike {
    size_t begin, end;
    size_t at;
};

struct alikes {
    struct alike *items; /* [n] */
    size_t n, capacity;
};

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int add_alike(struct alikes *alikes, struct alike alike) {
    if (graft_grow(&alikes->items, &alikes->capacity, alikes->n, sizeof *alikes->items) != 0) {
        return GRAFT_ERROR_INTERNAL;
    }
    alikes->items[alikes->n++] = alike;
    return GRAFT_OK;
}

/* Adds state `number`. Of its texts, which are sorted, those that end here come first; the others are grouped by their
 * next character, and each group becomes a state. */
static int add_texts(const char **texts, struct alikes *alikes, size_t number, struct graft_dfa *made) {
    struct alike alike = alikes->items[number];
    int status = graft_dfa_add_state(made, texts[alike.begin][alike.at] == '\0');
    while (alike.begin < alike.end && texts[alike.begin][alike.at] == '\0') {
        alike.begin++;
    }
    while (alike.begin < alike.end && status == GRAFT_OK) {
        const char *text = texts[alike.begin] + alike.at;
        uint32_t code;
        const size_t size = graft_utf8_read(text, &code);
        size_t end = alike.begin + 1;
        while (end < alike.end && strncmp(texts[end] + alike.at, text, size) == 0) {
            end++;
        }
        status = graft_dfa_add_edge(made, code, code, (int32_t)alikes->n);
        if (status == GRAFT_OK) {
            status = add_alike(alikes, (struct alike){alike.begin, end, alike.at + size});
        }
        alike.begin = end;
    }
    return status;
}

int graft_dfa_texts(const char **texts, size_t n, struct graft_dfa *made) {
    struct alikes alikes = {0};
    *made = (struct graft_dfa){0};
    if (n == 0) {
        return GRAFT_OK;
    }
    qsort(texts, n, sizeof *texts, compare_texts);
    int status = add_alike(&alikes, (struct alike){0, n, 0});
    for (size_t i = 0; i < alikes.n && status == GRAFT_OK; i++) {
        status = add_texts(texts, &alikes, i, made);
    }
    graft_free(alikes.items);
    if (status != GRAFT_OK) {
        graft_dfa_free(made);
    }
    return status;
}

static int32_t step(const struct graft_dfa *dfa, int32_t state, uint32_t code) {
    const struct graft_dfa_edge *edges = dfa->edges + dfa->states[state].first_edge;
    size_t low = 0, high = dfa->states[state].n_edges;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (edges[middle].last < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < dfa->states[state].n_edges && edges[low].first <= code ? edges[low].to : -1;
}

int graft_dfa_accepts(const struct graft_dfa *dfa, const char *text, size_t length) {
    int32_t state = dfa->n_states > 0 ? 0 : -1;
    for (size_t at = 0; at < length && state >= 0;) {
        uint32_t code;
        at += graft_utf8_read(text + at, &code);
        state = step(dfa, state, code);
    }
    return state >= 0 && dfa->states[state].accepts;
}

int graft_dfa_is_empty(const struct graft_dfa *dfa) {
    for (size_t i = 0; i < dfa->n_states; i++) {
        if (dfa->states[i].accepts) {
            return 0; /* every state can be reached from the start */
        }
    }
    return 1;
}

/* --- Pairs of states --- */

struct pair {
    int32_t a, b; /* `b` is -1 once the second automaton has refused the string */
};

struct pairs {
    const struct graft_dfa *a, *b;
    int minus;
    struct graft_dfa *made;
    struct pair *list; /* [n]: the pair that each state of `made` stands for */
    size_t n, capacity;
    int32_t *slots; /* [n_slots] hash table: index in `list` + 1; 0: free */
    size_t n_slots;
};

static int find_pair(struct pairs *pairs, struct pair pair, int32_t *number) {
    const uint32_t hash = (uint32_t)pair.a * 0x9E3779B1u ^ (uint32_t)pair.b * 0x85EBCA77u;
    size_t at = (hash ^ hash >> 15) & (pairs->n_slots - 1);
    for (; pairs->slots[at] != 0; at = (at + 1) & (pairs->n_slots - 1)) {
        const struct pair found = pairs->list[pairs->slots[at] - 1];
        if (found.a == pair.a && found.b == pair.b) {
            *number = pairs->slots[at] - 1;
            return GRAFT_OK;
        }
    }
    if (pairs->n == GRAFT_DFA_MOST_STATES) {
        return GRAFT_ERROR_USAGE;
    }
    if (graft_grow(&pairs->list, &pairs->capacity, pairs->n, sizeof *pairs->list) != 0) {
        return GRAFT_ERROR_INTERNAL;
    }
    pairs->list[pairs->n] = pair;
    *number = (int32_t)pairs->n++;
    pairs->slots[at] = *number + 1;
    return GRAFT_OK;
}

static int add_pair_edge(struct pairs *pairs, uint32_t first, uint32_t last, struct pair pair) {
    int32_t to = 0;
    if (first > last) {
        return GRAFT_OK;
    }
    int status = find_pair(pairs, pair, &to);
    return status == GRAFT_OK ? graft_dfa_add_edge(pairs->made, first, last, to) : status;
}

/* Splits one edge of `a` where edges of `b` begin and end, and adds the parts that remain. */
static int add_cut_edge(struct pairs *pairs, const struct graft_dfa_edge *edge, int32_t b) {
    uint32_t next = edge->first;
    int status = GRAFT_OK;
    const struct graft_dfa_state *state = b >= 0 ? &pairs->b->states[b] : NULL;
    for (size_t i = 0; state != NULL && i < state->n_edges && status == GRAFT_OK; i++) {
        const struct graft_dfa_edge *other = &pairs->b->edges[state->first_edge + i];
        const uint32_t first = other->first > edge->first ? other->first : edge->first;
        const uint32_t last = other->last < edge->last ? other->last : edge->last;
        if (first > last) {
            continue;
        }
        if (pairs->minus && first > next) {
            status = add_pair_edge(pairs, next, first - 1, (struct pair){edge->to, -1});
        }
        if (status == GRAFT_OK) {
            status = add_pair_edge(pairs, first, last, (struct pair){edge->to, other->to});
        }
        next = last + 1;
    }
    if (status == GRAFT_OK && pairs->minus && next <= edge->last) {
        status = add_pair_edge(pairs, next, edge->last, (struct pair){edge->to, -1});
    }
    return status;
}

static int combine(struct pairs *pairs) {
    int32_t start;
    int status = pairs->a->n_states == 0 || (!pairs->minus && pairs->b->n_states == 0)
                     ? GRAFT_OK
                     : find_pair(pairs, (struct pair){0, pairs->b->n_states > 0 ? 0 : -1}, &start);
    for (size_t i = 0; i < pairs->n && status == GRAFT_OK; i++) {
        const struct pair pair = pairs->list[i];
        const struct graft_dfa_state *a = &pairs->a->states[pair.a];
        const int other = pair.b >= 0 && pairs->b->states[pair.b].accepts;
        status = graft_dfa_add_state(pairs->made, a->accepts && other != pairs->minus);
        for (size_t j = 0; j < a->n_edges && status == GRAFT_OK; j++) {
            status = add_cut_edge(pairs, &pairs->a->edges[a->first_edge + j], pair.b);
        }
    }
    return status;
}

int graft_dfa_combine(const struct graft_dfa *a, const struct graft_dfa *b, int minus, struct graft_dfa *made) {
    struct pairs pairs = {.a = a, .b = b, .minus = minus, .made = made};
    *made = (struct graft_dfa){0};
    pairs.n_slots = 1 << 16;
    pairs.slots = graft_alloc(pairs.n_slots, sizeof *pairs.slots);
    const int status = pairs.slots != NULL ? combine(&pairs) : GRAFT_ERROR_INTERNAL;
    graft_free(pairs.slots);
    graft_free(pairs.list);
    if (status != GRAFT_OK) {
        graft_dfa_free(made);
    }
    return status;
}

/* --- Rules --- */

/* Adds the escape of a character that JSON does not allow in a string as it is. */
static void add_escape(struct graft_rules *rules, int32_t from, int32_t to, uint32_t code) {
    static const char hex[] = "0123456789abcdef", named[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
    const char *found = code != 0 ? strchr(named, (int)code) : NULL;
    const char *const high = &hex[code >> 4], *const low = &hex[code & 15];
    if (found != NULL) {
        graft_rules_text(rules, from, to, (const char[]){'\\', names[found - named]}, 2);
    } else {
        graft_rules_text(rules, from, to, (const char[]){'\\', 'u', '0', '0', *high, *low}, 6);
    }
}

static void add_characters(struct graft_rules *rules, int32_t from, int32_t to, uint32_t first, uint32_t last) {
    static const uint32_t plain[][2] = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, GRAFT_LAST_CHARACTER}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const uint32_t low = first > plain[i][0] ? first : plain[i][0];
        const uint32_t high = last < plain[i][1] ? last : plain[i][1];
        if (low <= high) {
            graft_rules_characters(rules, from, to, low, high);
        }
    }
    for (uint32_t code = first; code <= last && code <= '\\'; code++) {
        if (code < 0x20 || code == '"' || code == '\\') {
            add_escape(rules, from, to, code);
        }
    }
}

void graft_dfa_add_rules(const struct graft_dfa *dfa, struct graft_rules *rules, int32_t from, int32_t to) {
    const int32_t first = rules->n_states;
    for (size_t i = 0; i < dfa->n_states; i++) {
        (void)graft_rules_state(rules);
    }
    if (dfa->n_states > 0) {
        graft_rules_empty(rules, from, first);
    }
    for (size_t i = 0; i < dfa->n_states && rules->failed == 0; i++) {
        const struct graft_dfa_state *state = &dfa->states[i];
        for (size_t j = 0; j < state->n_edges; j++) {
            const struct graft_dfa_edge *edge = &dfa->edges[state->first_edge + j];
            add_characters(rules, first + (int32_t)i, first + edge->to, edge->first, edge->last);
        }
        if (state->accepts) {
            graft_rules_empty(rules, first + (int32_t)i, to);
        }
    }
}
