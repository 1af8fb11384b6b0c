/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/machine.h"

#include <string.h>

#include "base/alloc.h"

const struct graft_machine_limits graft_machine_usual_limits = {
    .bytes = (size_t)64 << 20, .configs = 10000, .depth = 1000};

enum { BOTTOM = -1, UNKNOWN = -1 };

/* The top of a stack: a state to return to, and the rest of the stack. Equal stacks are stored once. */
struct frame {
    int32_t state;
    int32_t below; /* BOTTOM: none */
    int32_t depth;
};

struct config {
    int32_t state;
    int32_t stack;
};

struct set {
    size_t first; /* index of its first config */
    uint32_t n;
    uint32_t hash;
    int may_end;
};

/* A hash table of indices. */
struct table {
    int32_t *slots; /* [size] index + 1; 0: free */
    size_t size;    /* a power of two */
};

struct graft_machine {
    const struct graft_rules *rules;
    const struct graft_machine_limits *limits;
    struct frame *frames;
    size_t n_frames, frames_capacity;
    struct table frame_table;
    struct config *configs; /* of all sets, one after another */
    size_t n_configs, configs_capacity;
    struct set *sets;
    size_t n_sets, sets_capacity;
    struct table set_table;
    int32_t *next; /* [n_sets, n_classes] the set that a byte of the class leads to, or UNKNOWN */
    size_t next_capacity;
    struct graft_place *places;
    struct config *found; /* [n_found] of the set that is being made */
    size_t n_found, found_capacity;
    struct table found_table;
    int may_end; /* of the set that is being made: whether a text may end there */
    int fault;
};

static uint32_t mix(uint32_t hash, uint32_t value) {
    hash = (hash ^ value) * 0x9E3779B1u;
    return hash ^ (hash >> 15);
}

static uint32_t hash_of(int32_t a, int32_t b) {
    return mix(mix(0x2545F491u, (uint32_t)a), (uint32_t)b);
}

static int fail(struct graft_machine *machine, int code) {
    machine->fault = code;
    return -1;
}

/* Replaces the slots by twice as many free ones. The caller puts the indices in again. */
static int enlarge(struct table *table, size_t least) {
    const size_t size = table->size > 0 ? table->size * 2 : least;
    int32_t *slots = graft_alloc(size, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    graft_free(table->slots);
    *table = (struct table){slots, size};
    return 0;
}

static void put(struct table *table, uint32_t hash, size_t number) {
    size_t at = hash & (table->size - 1);
    while (table->slots[at] != 0) {
        at = (at + 1) & (table->size - 1);
    }
    table->slots[at] = (int32_t)number + 1;
}

/* --- Stacks --- */

static int32_t push(struct graft_machine *machine, int32_t state, int32_t below) {
    const uint32_t hash = hash_of(state, below);
    struct table *table = &machine->frame_table;
    if (2 * machine->n_frames >= table->size) {
        if (enlarge(table, 256) != 0) {
            return fail(machine, GRAFT_ERROR_INTERNAL);
        }
        for (size_t i = 0; i < machine->n_frames; i++) {
            put(table, hash_of(machine->frames[i].state, machine->frames[i].below), i);
        }
    }
    size_t at = hash & (table->size - 1);
    for (; table->slots[at] != 0; at = (at + 1) & (table->size - 1)) {
        const struct frame *frame = &machine->frames[table->slots[at] - 1];
        if (frame->state == state && frame->below == below) {
            return table->slots[at] - 1;
        }
    }
    if (graft_grow(&machine->frames, &machine->frames_capacity, machine->n_frames, sizeof *machine->frames) != 0) {
        return fail(machine, GRAFT_ERROR_INTERNAL);
    }
    const int32_t depth = below == BOTTOM ? 1 : machine->frames[below].depth + 1;
    machine->frames[machine->n_frames] = (struct frame){state, below, depth};
    table->slots[at] = (int32_t)machine->n_frames + 1;
    return (int32_t)machine->n_frames++;
}

/* --- A set in the making --- */

/* Adds a config to the set that is being made, unless it is there already. */
static int find(struct graft_machine *machine, int32_t state, int32_t stack) {
    const uint32_t hash = hash_of(state, stack);
    struct table *table = &machine->found_table;
    if (2 * machine->n_found >= table->size) {
        if (enlarge(table, 64) != 0) {
            return fail(machine, GRAFT_ERROR_INTERNAL);
        }
        for (size_t i = 0; i < machine->n_found; i++) {
            put(table, hash_of(machine->found[i].state, machine->found[i].stack), i);
        }
    }
    size_t at = hash & (table->size - 1);
    for (; table->slots[at] != 0; at = (at + 1) & (table->size - 1)) {
        const struct config *config = &machine->found[table->slots[at] - 1];
        if (config->state == state && config->stack == stack) {
            return 0;
        }
    }
    if (machine->n_found >= machine->limits->configs) {
        return fail(machine, GRAFT_ERROR_USAGE);
    }
    if (graft_grow(&machine->found, &machine->found_capacity, machine->n_found, sizeof *machine->found) != 0) {
        return fail(machine, GRAFT_ERROR_INTERNAL);
    }
    machine->found[machine->n_found] = (struct config){state, stack};
    table->slots[at] = (int32_t)++machine->n_found;
    return 0;
}

/* Discards the set that is being made. Most sets are small, so only the slots in use are cleared where they are few. */
static void forget_found(struct graft_machine *machine) {
    struct table *table = &machine->found_table;
    if (4 * machine->n_found > table->size) {
        memset(table->slots, 0, table->size * sizeof *table->slots);
    } else {
        for (size_t i = 0; i < machine->n_found; i++) {
            size_t at = hash_of(machine->found[i].state, machine->found[i].stack) & (table->size - 1);
            for (; table->slots[at] != 0; at = (at + 1) & (table->size - 1)) {
                table->slots[at] = 0;
            }
        }
    }
    machine->n_found = 0;
    machine->may_end = 0;
}

/* Whether nothing can follow this state in its rule. A call that leads there is a tail call and needs no frame. */
static int ends_only(const struct graft_rules *rules, int32_t state) {
    return rules->is_end[state] && rules->first_edge[state] == rules->first_edge[state + 1];
}

static int call(struct graft_machine *machine, const struct graft_edge *edge, int32_t stack) {
    const int32_t start = machine->rules->rules[edge->rule].start;
    if (ends_only(machine->rules, edge->to)) {
        return find(machine, start, stack);
    }
    if (stack != BOTTOM && machine->frames[stack].depth >= machine->limits->depth) {
        return 0;
    }
    const int32_t pushed = push(machine, edge->to, stack);
    return pushed < 0 ? -1 : find(machine, start, pushed);
}

/* Adds all configs that are reached without consuming a byte: by empty edges, calls and returns. */
static int follow(struct graft_machine *machine) {
    const struct graft_rules *rules = machine->rules;
    for (size_t done = 0; done < machine->n_found; done++) {
        const struct config config = machine->found[done];
        int failed = 0;
        if (rules->is_end[config.state] && config.stack == BOTTOM) {
            machine->may_end = 1;
        } else if (rules->is_end[config.state]) {
            failed = find(machine, machine->frames[config.stack].state, machine->frames[config.stack].below);
        }
        for (int32_t i = rules->first_edge[config.state]; i < rules->first_edge[config.state + 1] && !failed; i++) {
            const struct graft_edge *edge = &rules->edges[i];
            if (edge->rule == GRAFT_EDGE_EMPTY) {
                failed = find(machine, edge->to, config.stack);
            } else if (edge->rule >= 0) {
                failed = call(machine, edge, config.stack);
            }
        }
        if (failed) {
            return -1;
        }
    }
    return 0;
}

static int takes_bytes(const struct graft_rules *rules, int32_t state) {
    for (int32_t i = rules->first_edge[state]; i < rules->first_edge[state + 1]; i++) {
        if (rules->edges[i].rule == GRAFT_EDGE_BYTE) {
            return 1;
        }
    }
    return 0;
}

static int is_set(const struct graft_machine *machine, const struct set *set, uint32_t hash, size_t n) {
    return set->hash == hash && set->n == n && set->may_end == machine->may_end &&
           memcmp(machine->configs + set->first, machine->configs + machine->n_configs, n * sizeof *machine->configs) ==
               0;
}

/* Copies the configs that consume bytes past the end of those of all sets; the others have served their purpose.
 * Returns how many there are, and their hash. */
static size_t lay_out(struct graft_machine *machine, uint32_t *hash) {
    size_t n = 0;
    *hash = (uint32_t)machine->may_end + 1;
    for (size_t i = 0; i < machine->n_found; i++) {
        const struct config config = machine->found[i];
        if (takes_bytes(machine->rules, config.state)) {
            machine->configs[machine->n_configs + n++] = config;
            *hash = mix(*hash, hash_of(config.state, config.stack));
        }
    }
    return n;
}

static size_t bytes_kept(const struct graft_machine *machine) {
    return machine->n_frames * sizeof *machine->frames + machine->n_configs * sizeof *machine->configs +
           machine->n_sets * (sizeof *machine->sets + (size_t)machine->rules->n_classes * sizeof *machine->next);
}

static int reserve_configs(struct graft_machine *machine) {
    while (machine->configs_capacity < machine->n_configs + machine->n_found) {
        if (graft_grow(&machine->configs, &machine->configs_capacity, machine->configs_capacity,
                       sizeof *machine->configs) != 0) {
            return -1;
        }
    }
    return 0;
}

static int reserve_set(struct graft_machine *machine) {
    const size_t classes = (size_t)machine->rules->n_classes;
    if (2 * machine->n_sets >= machine->set_table.size) {
        if (enlarge(&machine->set_table, 256) != 0) {
            return -1;
        }
        for (size_t i = 0; i < machine->n_sets; i++) {
            put(&machine->set_table, machine->sets[i].hash, i);
        }
    }
    return graft_grow(&machine->sets, &machine->sets_capacity, machine->n_sets, sizeof *machine->sets) != 0 ||
                   graft_grow(&machine->next, &machine->next_capacity, machine->n_sets,
                              classes * sizeof *machine->next) != 0
               ? -1
               : 0;
}

/* Completes the set that is being made and returns its number; an equal set is found again. Sets whose configs are
 * equal but in another order count as different, which costs memory only. */
static int32_t keep_found(struct graft_machine *machine) {
    const size_t classes = (size_t)machine->rules->n_classes;
    uint32_t hash = 0;
    /* The cache is tidied between tokens only; a single mask may add as much again as the limit. */
    if (bytes_kept(machine) > 2 * machine->limits->bytes) {
        forget_found(machine);
        return fail(machine, GRAFT_ERROR_USAGE);
    }
    if (follow(machine) != 0) {
        forget_found(machine);
        return GRAFT_SET_FAILED;
    }
    if (reserve_configs(machine) != 0 || reserve_set(machine) != 0) {
        forget_found(machine);
        return fail(machine, GRAFT_ERROR_INTERNAL);
    }
    const size_t n = lay_out(machine, &hash);
    size_t at = hash & (machine->set_table.size - 1);
    for (; machine->set_table.slots[at] != 0; at = (at + 1) & (machine->set_table.size - 1)) {
        const int32_t number = machine->set_table.slots[at] - 1;
        if (is_set(machine, &machine->sets[number], hash, n)) {
            forget_found(machine);
            return number;
        }
    }
    machine->sets[machine->n_sets] = (struct set){machine->n_configs, (uint32_t)n, hash, machine->may_end};
    memset(machine->next + machine->n_sets * classes, 0xFF, classes * sizeof *machine->next);
    machine->set_table.slots[at] = (int32_t)machine->n_sets + 1;
    machine->n_configs += n;
    forget_found(machine);
    return (int32_t)machine->n_sets++;
}

/* --- The machine --- */

static void free_room(struct graft_machine *machine) {
    graft_free(machine->frames);
    graft_free(machine->frame_table.slots);
    graft_free(machine->configs);
    graft_free(machine->sets);
    graft_free(machine->set_table.slots);
    graft_free(machine->next);
    graft_free(machine->found);
    graft_free(machine->found_table.slots);
}

/* Makes the sets with fixed numbers, GRAFT_SET_DEAD and GRAFT_SET_START. */
static int begin(struct graft_machine *machine) {
    if (keep_found(machine) != GRAFT_SET_DEAD) {
        return -1;
    }
    return find(machine, machine->rules->rules[0].start, BOTTOM) != 0 || keep_found(machine) != GRAFT_SET_START ? -1
                                                                                                                : 0;
}

struct graft_machine *graft_machine_create(const struct graft_rules *rules, const struct graft_machine_limits *limits) {
    struct graft_machine *machine = graft_alloc(1, sizeof *machine);
    if (machine == NULL) {
        return NULL;
    }
    machine->rules = rules;
    machine->limits = limits;
    if (begin(machine) != 0) {
        graft_machine_destroy(machine);
        return NULL;
    }
    return machine;
}

void graft_machine_destroy(struct graft_machine *machine) {
    if (machine != NULL) {
        free_room(machine);
        graft_free(machine);
    }
}

void graft_place_begin(struct graft_machine *machine, struct graft_place *place, const struct graft_place *from) {
    place->set = from != NULL ? from->set : GRAFT_SET_START;
    place->previous = NULL;
    place->next = machine->places;
    if (machine->places != NULL) {
        machine->places->previous = place;
    }
    machine->places = place;
}

void graft_place_end(struct graft_machine *machine, struct graft_place *place) {
    struct graft_place **before = place->previous != NULL ? &place->previous->next : &machine->places;
    *before = place->next;
    if (place->next != NULL) {
        place->next->previous = place->previous;
    }
}

int32_t graft_machine_step(struct graft_machine *machine, int32_t set, unsigned char byte) {
    const struct graft_rules *rules = machine->rules;
    const size_t at = (size_t)set * (size_t)rules->n_classes + rules->class_of[byte];
    int32_t next = machine->next[at];
    if (next != UNKNOWN) {
        return next;
    }
    const struct set from = machine->sets[set];
    for (size_t i = 0; i < from.n; i++) {
        const struct config config = machine->configs[from.first + i];
        for (int32_t j = rules->first_edge[config.state]; j < rules->first_edge[config.state + 1]; j++) {
            const struct graft_edge *edge = &rules->edges[j];
            if (edge->rule == GRAFT_EDGE_BYTE && edge->first <= byte && byte <= edge->last &&
                find(machine, edge->to, config.stack) != 0) {
                forget_found(machine);
                return GRAFT_SET_FAILED;
            }
        }
    }
    next = keep_found(machine);
    if (next != GRAFT_SET_FAILED) {
        machine->next[at] = next;
    }
    return next;
}

int graft_machine_may_end(const struct graft_machine *machine, int32_t set) {
    return machine->sets[set].may_end;
}

int graft_machine_fault(const struct graft_machine *machine) {
    return machine->fault;
}

/* --- Tidying --- */

/* Copies a stack from another machine. moved[i] is the copy of frame i, or UNKNOWN. Frames are copied from the bottom
 * up; `path` has room for the deepest stack. */
static int32_t move_stack(struct graft_machine *machine, const struct graft_machine *from, int32_t stack,
                          int32_t *moved, int32_t *path) {
    int32_t n = 0;
    int32_t here = BOTTOM;
    for (; stack != BOTTOM && moved[stack] == UNKNOWN; stack = from->frames[stack].below) {
        path[n++] = stack;
    }
    here = stack != BOTTOM ? moved[stack] : BOTTOM;
    while (n > 0) {
        const int32_t next = path[--n];
        here = push(machine, from->frames[next].state, here);
        if (here < 0) {
            return UNKNOWN - 1;
        }
        moved[next] = here;
    }
    return here;
}

static int move_set(struct graft_machine *machine, const struct graft_machine *from, int32_t set, int32_t *moved,
                    int32_t *path, int32_t *result) {
    const struct set *old = &from->sets[set];
    for (size_t i = 0; i < old->n; i++) {
        const struct config config = from->configs[old->first + i];
        const int32_t stack = move_stack(machine, from, config.stack, moved, path);
        if (stack < BOTTOM || find(machine, config.state, stack) != 0) {
            forget_found(machine);
            return -1;
        }
    }
    machine->may_end = old->may_end;
    *result = keep_found(machine);
    return *result == GRAFT_SET_FAILED ? -1 : 0;
}

static int move_places(struct graft_machine *machine, const struct graft_machine *from, int32_t *sets) {
    int32_t *moved = graft_alloc(from->n_frames, sizeof *moved);
    int32_t *path = graft_alloc((size_t)from->limits->depth + 1, sizeof *path);
    int failed = moved == NULL || path == NULL;
    size_t n = 0;
    if (!failed) {
        memset(moved, 0xFF, from->n_frames * sizeof *moved);
    }
    for (const struct graft_place *place = from->places; place != NULL && !failed; place = place->next) {
        failed = place->set <= GRAFT_SET_START ? sets[n] = place->set,
        0                                      : move_set(machine, from, place->set, moved, path, &sets[n]) != 0;
        n++;
    }
    graft_free(moved);
    graft_free(path);
    return failed ? -1 : 0;
}

int graft_machine_tidy(struct graft_machine *machine) {
    size_t n = 0;
    if (bytes_kept(machine) < machine->limits->bytes) {
        return 0;
    }
    for (const struct graft_place *place = machine->places; place != NULL; place = place->next) {
        n++;
    }
    struct graft_machine *fresh = graft_machine_create(machine->rules, machine->limits);
    int32_t *sets = graft_alloc(n, sizeof *sets);
    if (fresh == NULL || sets == NULL || move_places(fresh, machine, sets) != 0) {
        graft_machine_destroy(fresh);
        graft_free(sets);
        return fail(machine, GRAFT_ERROR_INTERNAL);
    }
    n = 0;
    for (struct graft_place *place = machine->places; place != NULL; place = place->next) {
        place->set = sets[n++];
    }
    fresh->places = machine->places;
    free_room(machine);
    *machine = *fresh;
    graft_free(fresh);
    graft_free(sets);
    return bytes_kept(machine) < machine->limits->bytes ? 1 : fail(machine, GRAFT_ERROR_USAGE);
}
