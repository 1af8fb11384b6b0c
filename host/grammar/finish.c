/* SPDX-License-Identifier: Apache-2.0 */
/* The second step of a grammar: drops the states from which the end of their rule cannot be reached, refuses left
 * recursion, and groups bytes that no edge tells apart into classes. */
#include <string.h>

#include "base/alloc.h"
#include "grammar/rules.h"

/* The edges that lead to each state, and those that call each rule. */
struct backward {
    int32_t *into;       /* [n_edges] indices of edges, sorted by `to` */
    int32_t *first_into; /* [n_states + 1] */
    int32_t *calls;      /* indices of the edges that call a rule, sorted by rule */
    int32_t *first_call; /* [n_rules + 1] */
    int32_t *rule_at;    /* [n_states] the rule that starts in that state; -1: none does */
    int32_t *work;       /* [n_states] */
};

static void free_backward(struct backward *backward) {
    graft_free(backward->into);
    graft_free(backward->first_into);
    graft_free(backward->calls);
    graft_free(backward->first_call);
    graft_free(backward->rule_at);
    graft_free(backward->work);
}

/* The first step of a counting sort: places[1] to places[n] hold the sizes of n groups and become sums, so that
 * places[i] is where group i begins. Placing an element of group i advances places[i]; step_back undoes that in the
 * end. */
static void add_up(int32_t *places, size_t n) {
    for (size_t i = 0; i < n; i++) {
        places[i + 1] += places[i];
    }
}

static void step_back(int32_t *places, size_t n) {
    memmove(places + 1, places, n * sizeof *places);
    places[0] = 0;
}

static int make_backward(const struct graft_rules *rules, struct backward *backward) {
    const size_t states = (size_t)rules->n_states;
    backward->into = graft_alloc(rules->n_edges, sizeof *backward->into);
    backward->first_into = graft_alloc(states + 1, sizeof *backward->first_into);
    backward->calls = graft_alloc(rules->n_edges, sizeof *backward->calls);
    backward->first_call = graft_alloc(rules->n_rules + 1, sizeof *backward->first_call);
    backward->rule_at = graft_alloc(states, sizeof *backward->rule_at);
    backward->work = graft_alloc(states, sizeof *backward->work);
    if (backward->into == NULL || backward->first_into == NULL || backward->calls == NULL ||
        backward->first_call == NULL || backward->rule_at == NULL || backward->work == NULL) {
        return -1;
    }
    memset(backward->rule_at, 0xFF, states * sizeof *backward->rule_at);
    for (size_t i = 0; i < rules->n_rules; i++) {
        backward->rule_at[rules->rules[i].start] = (int32_t)i;
    }
    for (size_t i = 0; i < rules->n_edges; i++) {
        backward->first_into[rules->edges[i].to + 1]++;
        if (rules->edges[i].rule >= 0) {
            backward->first_call[rules->edges[i].rule + 1]++;
        }
    }
    add_up(backward->first_into, states);
    add_up(backward->first_call, rules->n_rules);
    for (size_t i = 0; i < rules->n_edges; i++) {
        const struct graft_edge *edge = &rules->edges[i];
        backward->into[backward->first_into[edge->to]++] = (int32_t)i;
        if (edge->rule >= 0) {
            backward->calls[backward->first_call[edge->rule]++] = (int32_t)i;
        }
    }
    step_back(backward->first_into, states);
    step_back(backward->first_call, rules->n_rules);
    return 0;
}

/* Marks the states from which the end of their rule can be reached: at all or, with `takes` 0, without consuming a
 * byte. */
static void mark(const struct graft_rules *rules, const struct backward *backward, int takes, unsigned char *marks) {
    size_t n = 0;
    memset(marks, 0, (size_t)rules->n_states);
    for (size_t i = 0; i < rules->n_rules; i++) {
        marks[rules->rules[i].end] = 1;
        backward->work[n++] = rules->rules[i].end;
    }
    while (n > 0) {
        const int32_t state = backward->work[--n];
        const int32_t rule = backward->rule_at[state];
        const int32_t *const lists[2] = {backward->into, backward->calls};
        const int32_t begins[2] = {backward->first_into[state], rule >= 0 ? backward->first_call[rule] : 0};
        const int32_t ends[2] = {backward->first_into[state + 1], rule >= 0 ? backward->first_call[rule + 1] : 0};
        for (int list = 0; list < 2; list++) {
            for (int32_t i = begins[list]; i < ends[list]; i++) {
                const struct graft_edge *edge = &rules->edges[lists[list][i]];
                const int opens = edge->rule >= 0 ? marks[rules->rules[edge->rule].start] && marks[edge->to]
                                                  : (takes || edge->rule == GRAFT_EDGE_EMPTY) && marks[edge->to];
                if (opens && !marks[edge->from]) {
                    marks[edge->from] = 1;
                    backward->work[n++] = edge->from;
                }
            }
        }
    }
}

static void drop_dead(struct graft_rules *rules, const unsigned char *lives) {
    size_t kept = 0;
    for (size_t i = 0; i < rules->n_edges; i++) {
        const struct graft_edge edge = rules->edges[i];
        if (lives[edge.to] && lives[edge.from] && (edge.rule < 0 || lives[rules->rules[edge.rule].start])) {
            rules->edges[kept++] = edge;
        }
    }
    rules->n_edges = kept;
}

static int put_in_order(struct graft_rules *rules) {
    const size_t states = (size_t)rules->n_states;
    struct graft_edge *sorted = graft_alloc(rules->n_edges, sizeof *sorted);
    graft_free(rules->first_edge);
    rules->first_edge = graft_alloc(states + 1, sizeof *rules->first_edge);
    rules->is_end = rules->is_end != NULL ? rules->is_end : graft_alloc(states, 1);
    if (sorted == NULL || rules->first_edge == NULL || rules->is_end == NULL) {
        graft_free(sorted);
        return -1;
    }
    for (size_t i = 0; i < rules->n_rules; i++) {
        rules->is_end[rules->rules[i].end] = 1;
    }
    for (size_t i = 0; i < rules->n_edges; i++) {
        rules->first_edge[rules->edges[i].from + 1]++;
    }
    add_up(rules->first_edge, states);
    for (size_t i = 0; i < rules->n_edges; i++) {
        sorted[rules->first_edge[rules->edges[i].from]++] = rules->edges[i];
    }
    step_back(rules->first_edge, states);
    graft_free(rules->edges);
    rules->edges = sorted;
    rules->edges_capacity = rules->n_edges > 0 ? rules->n_edges : 1;
    return 0;
}

/* --- Left recursion: a state that reaches itself through a call without consuming a byte. Such states are found as
 * strongly connected components, with Tarjan's algorithm. --- */

struct walk {
    const struct graft_rules *rules;
    const unsigned char *empties; /* [n_states] 1: the end of the rule is reached without consuming a byte */
    int32_t *index;               /* [n_states] 0: not seen */
    int32_t *low;
    int32_t *stack;
    int32_t *path; /* [n_path] the states being visited, from the first to the current one */
    int32_t *next; /* [n_states] twice the index of the next edge to follow, or that plus 1: a call leads into its rule
                      and, where that may be empty, after it */
    unsigned char *on_stack;
    int32_t count;
    size_t n_stack;
    size_t n_path;
};

/* Where a step that consumes no byte leads; -1: nowhere. Edge i has the steps 2 * i and, for a call, 2 * i + 1. */
static int32_t target(const struct walk *walk, int32_t way) {
    const struct graft_edge *edge = &walk->rules->edges[way / 2];
    if (edge->rule == GRAFT_EDGE_EMPTY) {
        return way % 2 == 0 ? edge->to : -1;
    }
    if (edge->rule < 0) {
        return -1;
    }
    const int32_t start = walk->rules->rules[edge->rule].start;
    return way % 2 == 0 ? start : walk->empties[start] ? edge->to : -1;
}

static void enter(struct walk *walk, int32_t state) {
    walk->index[state] = walk->low[state] = ++walk->count;
    walk->stack[walk->n_stack++] = state;
    walk->on_stack[state] = 1;
    walk->next[state] = 2 * walk->rules->first_edge[state];
    walk->path[walk->n_path++] = state;
}

/* Leaves a state. The first state of a component takes all states of it off the stack; `low` of each becomes the index
 * of that state, which identifies the component. */
static void leave(struct walk *walk, int32_t state) {
    int32_t member;
    walk->n_path--;
    if (walk->n_path > 0) {
        int32_t *low = &walk->low[walk->path[walk->n_path - 1]];
        *low = walk->low[state] < *low ? walk->low[state] : *low;
    }
    if (walk->low[state] == walk->index[state]) {
        do {
            member = walk->stack[--walk->n_stack];
            walk->on_stack[member] = 0;
            walk->low[member] = walk->index[state];
        } while (member != state);
    }
}

static void visit(struct walk *walk, int32_t state) {
    enter(walk, state);
    while (walk->n_path > 0) {
        state = walk->path[walk->n_path - 1];
        if (walk->next[state] == 2 * walk->rules->first_edge[state + 1]) {
            leave(walk, state);
            continue;
        }
        const int32_t to = target(walk, walk->next[state]++);
        if (to >= 0 && walk->index[to] == 0) {
            enter(walk, to);
        } else if (to >= 0 && walk->on_stack[to] && walk->index[to] < walk->low[state]) {
            walk->low[state] = walk->index[to];
        }
    }
}

static int check_recursion(const struct graft_rules *rules, const unsigned char *empties, const char *source,
                           struct graft_error *error) {
    const size_t n = (size_t)rules->n_states;
    struct walk walk = {.rules = rules, .empties = empties};
    int32_t *room = graft_alloc(n * 5, sizeof *room);
    int status = GRAFT_OK;
    walk.on_stack = graft_alloc(n, 1);
    if (room == NULL || walk.on_stack == NULL) {
        graft_free(room);
        graft_free(walk.on_stack);
        return graft_fail_memory(error, source);
    }
    walk.index = room;
    walk.low = room + n;
    walk.stack = room + 2 * n;
    walk.path = room + 3 * n;
    walk.next = room + 4 * n;
    for (int32_t i = 0; i < rules->n_states; i++) {
        if (walk.index[i] == 0) {
            visit(&walk, i);
        }
    }
    for (size_t i = 0; i < rules->n_edges && status == GRAFT_OK; i++) {
        const struct graft_edge *edge = &rules->edges[i];
        if (edge->rule >= 0 && walk.low[edge->from] == walk.low[rules->rules[edge->rule].start]) {
            const char *name = rules->rules[edge->rule].name;
            status = graft_error_set(error, GRAFT_ERROR_USAGE, source,
                                     "%s can begin with itself, so it would go on without end",
                                     name != NULL ? name : "what refers to itself");
        }
    }
    graft_free(room);
    graft_free(walk.on_stack);
    return status;
}

/* --- Classes of bytes --- */

/* Two neighbouring bytes are in one class unless the range of some edge begins or ends between them. */
static void find_classes(struct graft_rules *rules) {
    unsigned char begins[257] = {0};
    int class = 0;
    for (size_t i = 0; i < rules->n_edges; i++) {
        if (rules->edges[i].rule == GRAFT_EDGE_BYTE) {
            begins[rules->edges[i].first] = 1;
            begins[rules->edges[i].last + 1] = 1;
        }
    }
    for (int byte = 0; byte < 256; byte++) {
        class += byte > 0 && begins[byte];
        rules->class_of[byte] = (unsigned char)class;
        rules->byte_of[class] = (unsigned char)byte;
    }
    rules->n_classes = class + 1;
}

int graft_rules_finish(struct graft_rules *rules, const char *source, struct graft_error *error) {
    struct backward backward = {0};
    if (rules->failed == GRAFT_ERROR_USAGE) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, source, "it is too large: it needs more than %d steps",
                               (int)GRAFT_RULES_MOST_EDGES);
    }
    unsigned char *marks = rules->failed == 0 ? graft_alloc((size_t)rules->n_states, 1) : NULL;
    int status = marks == NULL || make_backward(rules, &backward) != 0 ? graft_fail_memory(error, source) : GRAFT_OK;
    if (status == GRAFT_OK) {
        mark(rules, &backward, 1, marks);
        if (!marks[rules->rules[0].start]) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, source, "nothing fits it");
        }
    }
    if (status == GRAFT_OK) {
        unsigned char *lives = marks;
        marks = graft_alloc((size_t)rules->n_states, 1);
        if (marks != NULL) {
            mark(rules, &backward, 0, marks);
        }
        drop_dead(rules, lives);
        graft_free(lives);
        status = marks == NULL || put_in_order(rules) != 0 ? graft_fail_memory(error, source) : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = check_recursion(rules, marks, source, error);
    }
    find_classes(rules);
    graft_free(marks);
    free_backward(&backward);
    return status;
}
