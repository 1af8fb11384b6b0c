/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/lexicon.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Nodes are allocated in blocks of this size, because a base and its children differ in the last byte only. */
enum { BLOCK = 256 };

/* How many free nodes are tried for a first child before a new block is allocated; bounds the time of a build. */
enum { MAX_TRIES = 64 };

#define NONE UINT32_MAX            /* the parent of the root and of unused nodes */
#define MAX_NODES (UINT32_MAX / 2) /* keeps indices below NONE */

/* A node whose children are not placed yet. The entries below it share their first `depth` bytes. */
struct task {
    uint32_t node;
    uint32_t depth;
    size_t first;
    size_t end;
};

struct builder {
    struct graft_lexicon *lexicon;
    const struct graft_lexicon_entry *entries;
    size_t capacity;
    /* Free nodes form a ring through their `base` (next) and `value` (previous); `free` is one of them, or NONE. */
    uint32_t free;
    struct task *tasks; /* [n_tasks], a stack */
    size_t n_tasks;
    size_t tasks_capacity;
};

static void release(struct builder *b, uint32_t node) {
    struct graft_lexicon_node *nodes = b->lexicon->nodes;
    uint32_t last = b->free == NONE ? node : (uint32_t)nodes[b->free].value;
    uint32_t first = b->free == NONE ? node : b->free;
    nodes[node] = (struct graft_lexicon_node){first, NONE, (int32_t)last};
    nodes[last].base = node;
    nodes[first].value = (int32_t)node;
    b->free = first;
}

static void take(struct builder *b, uint32_t node, uint32_t parent) {
    struct graft_lexicon_node *nodes = b->lexicon->nodes;
    uint32_t next = nodes[node].base, previous = (uint32_t)nodes[node].value;
    nodes[previous].base = next;
    nodes[next].value = (int32_t)previous;
    if (b->free == node) {
        b->free = next == node ? NONE : next;
    }
    nodes[node] = (struct graft_lexicon_node){0, parent, -1};
}

static int add_block(struct builder *b) {
    size_t n = b->lexicon->n;
    if (n + BLOCK > b->capacity) {
        size_t capacity = b->capacity * 2 + BLOCK;
        void *nodes =
            capacity > MAX_NODES ? NULL : graft_realloc(b->lexicon->nodes, capacity, sizeof *b->lexicon->nodes);
        if (nodes == NULL) {
            return -1;
        }
        b->lexicon->nodes = nodes;
        b->capacity = capacity;
    }
    b->lexicon->n = n + BLOCK;
    for (size_t i = n; i < n + BLOCK; i++) {
        release(b, (uint32_t)i);
    }
    return 0;
}

static int fits(const struct builder *b, uint32_t base, const unsigned char *labels, size_t n) {
    size_t i = 0;
    while (i < n && (base ^ labels[i]) != 0 && b->lexicon->nodes[base ^ labels[i]].parent == NONE) {
        i++;
    }
    return i == n;
}

/* A base at which the nodes of children with these labels are free; NONE if memory ran out. */
static uint32_t find_base(struct builder *b, const unsigned char *labels, size_t n) {
    uint32_t node = b->free;
    for (int tries = 0; node != NONE && tries < MAX_TRIES; tries++) {
        uint32_t base = node ^ labels[0];
        if (fits(b, base, labels, n)) {
            return base;
        }
        node = b->lexicon->nodes[node].base;
        node = node == b->free ? NONE : node;
    }
    return add_block(b) == 0 ? (uint32_t)(b->lexicon->n - BLOCK) : NONE;
}

/* Collects the different bytes that follow the task's `depth`; entries are sorted, so equal bytes are adjacent. */
static size_t collect_labels(const struct builder *b, const struct task *task, unsigned char labels[BLOCK]) {
    size_t n = 0;
    for (size_t i = task->first; i < task->end; i++) {
        unsigned char label = (unsigned char)b->entries[i].bytes[task->depth];
        if (n == 0 || labels[n - 1] != label) {
            labels[n++] = label;
        }
    }
    return n;
}

static int push(struct builder *b, struct task task) {
    if (graft_grow(&b->tasks, &b->tasks_capacity, b->n_tasks, sizeof *b->tasks) != 0) {
        return -1;
    }
    b->tasks[b->n_tasks++] = task;
    return 0;
}

/* Sets a node's value to that of the entry that ends there, places the node's children, and queues a task for each. */
static int place_children(struct builder *b, struct task task) {
    unsigned char labels[BLOCK];
    while (task.first < task.end && b->entries[task.first].length == task.depth) {
        if (task.depth > 0) {
            b->lexicon->nodes[task.node].value = b->entries[task.first].value;
        }
        task.first++;
    }
    size_t n = collect_labels(b, &task, labels);
    if (n == 0) {
        return 0;
    }
    uint32_t base = find_base(b, labels, n);
    if (base == NONE) {
        return -1;
    }
    b->lexicon->nodes[task.node].base = base;
    size_t at = task.first;
    for (size_t i = 0; i < n; i++) {
        struct task child = {base ^ labels[i], task.depth + 1, at, at};
        while (child.end < task.end && (unsigned char)b->entries[child.end].bytes[task.depth] == labels[i]) {
            child.end++;
        }
        at = child.end;
        take(b, child.node, task.node);
        if (push(b, child) != 0) {
            return -1;
        }
    }
    return 0;
}

static int compare(const void *left, const void *right) {
    const struct graft_lexicon_entry *a = left, *b = right;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    if (order == 0) {
        order = (a->length > b->length) - (a->length < b->length);
    }
    return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

int graft_lexicon_build(struct graft_lexicon *lexicon, struct graft_lexicon_entry *entries, size_t n) {
    struct builder b = {lexicon, entries, 0, NONE, NULL, 0, 0};
    qsort(entries, n, sizeof *entries, compare);
    int failed = add_block(&b) != 0;
    if (!failed) {
        take(&b, 0, NONE);
        failed = push(&b, (struct task){0, 0, 0, n}) != 0;
    }
    while (!failed && b.n_tasks > 0) {
        failed = place_children(&b, b.tasks[--b.n_tasks]) != 0;
    }
    graft_free(b.tasks);
    return failed ? -1 : 0;
}

void graft_lexicon_free(struct graft_lexicon *lexicon) {
    graft_free(lexicon->nodes);
    *lexicon = (struct graft_lexicon){0};
}

size_t graft_lexicon_longest(const struct graft_lexicon *lexicon, uint32_t node, const char *bytes, size_t length,
                             int32_t *value) {
    size_t longest = 0;
    for (size_t i = 0; i < length && lexicon->n > 0; i++) {
        node = graft_lexicon_step(lexicon, node, bytes[i]);
        if (node == 0) {
            break;
        }
        if (lexicon->nodes[node].value >= 0) {
            *value = lexicon->nodes[node].value;
            longest = i + 1;
        }
    }
    return longest;
}
