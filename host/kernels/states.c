/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/states.h"

#include <string.h>

#include "base/alloc.h"
#include "kernels/threads.h"

enum { ALIGNMENT = 64, COPIED_AT_ONCE = 1 << 16 };

/* One state of one slot. After 0 tokens it is all zeros, whatever the arrays contain. */
struct entry {
    void *now;    /* [bytes] after `length` tokens; NULL until used */
    void *before; /* [bytes] after `length_before` tokens; NULL until used */
    int64_t bytes;
    int64_t length;
    int64_t length_before;
};

struct graft_states {
    struct entry *entries; /* [count, slots] */
    int32_t count;
    int32_t slots;
};

struct graft_states *graft_states_create(int32_t slots) {
    struct graft_states *states = slots > 0 ? graft_alloc(1, sizeof *states) : NULL;
    if (states != NULL) {
        states->slots = slots;
    }
    return states;
}

void graft_states_destroy(struct graft_states *states) {
    if (states != NULL) {
        for (int64_t i = 0; i < (int64_t)states->count * states->slots; i++) {
            graft_free(states->entries[i].now);
            graft_free(states->entries[i].before);
        }
        graft_free(states->entries);
        graft_free(states);
    }
}

static struct entry *entry_of(const struct graft_states *states, int32_t index, int32_t slot) {
    return &states->entries[(int64_t)index * states->slots + slot];
}

static int add_states(struct graft_states *states, int32_t count, struct graft_error *error) {
    size_t before = (size_t)states->count * (size_t)states->slots;
    size_t after = (size_t)count * (size_t)states->slots;
    struct entry *entries = graft_realloc(states->entries, after, sizeof *entries);
    if (entries == NULL) {
        return graft_fail_memory(error, "");
    }
    memset(entries + before, 0, (after - before) * sizeof *entries);
    states->entries = entries;
    states->count = count;
    return GRAFT_OK;
}

/* Allocates an array unless it exists. */
static int reserve(void **array, int64_t bytes, struct graft_error *error) {
    *array = *array != NULL ? *array : graft_alloc_aligned(ALIGNMENT, (size_t)bytes);
    return *array != NULL ? GRAFT_OK : graft_fail_memory(error, "");
}

struct copy {
    char *to;
    const char *from;
};

static void copy_part(void *data, int64_t begin, int64_t end) {
    const struct copy *copy = data;
    memcpy(copy->to + begin, copy->from + begin, (size_t)(end - begin));
}

/* Copies an array, on several threads: states of recurrent layers have megabytes, and each step copies them. */
static void copy_array(void *to, const void *from, int64_t bytes) {
    struct copy copy = {to, from};
    graft_threads_get()->parallel_for(bytes, COPIED_AT_ONCE, copy_part, &copy);
}

/* Saves the current state, so that it can be restored. */
static int keep(struct entry *entry, struct graft_error *error) {
    int status = reserve(&entry->now, entry->bytes, error);
    if (status == GRAFT_OK && entry->length == 0) {
        memset(entry->now, 0, (size_t)entry->bytes);
    } else if (status == GRAFT_OK && (status = reserve(&entry->before, entry->bytes, error)) == GRAFT_OK) {
        copy_array(entry->before, entry->now, entry->bytes);
    }
    return status;
}

int graft_states_step(struct graft_states *states, const struct graft_state *state, int32_t slot, int64_t position,
                      int64_t tokens, void **data, struct graft_error *error) {
    if (slot < 0 || slot >= states->slots) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "state: there is no slot %d, only %d", (int)slot,
                               (int)states->slots);
    }
    int status = state->index >= states->count ? add_states(states, state->index + 1, error) : GRAFT_OK;
    if (status != GRAFT_OK) {
        return status;
    }
    struct entry *entry = entry_of(states, state->index, slot);
    int again = entry->length == position + tokens && entry->length_before == position;
    if (!again && entry->length != position) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "state of slot %d has seen %lld tokens, but the batch continues at position %lld",
                               (int)slot, (long long)entry->length, (long long)position);
    }
    if (!again) {
        entry->bytes = state->bytes;
        status = keep(entry, error);
        entry->length_before = status == GRAFT_OK ? position : entry->length_before;
        entry->length = status == GRAFT_OK ? position + tokens : entry->length;
    }
    *data = entry->now;
    return status;
}

int64_t graft_states_reach(const struct graft_states *states, int32_t slot, int64_t length) {
    for (int32_t i = 0; i < states->count; i++) {
        const struct entry *entry = entry_of(states, i, slot);
        if (entry->length > length) {
            length = entry->length_before <= length ? entry->length_before : 0;
        }
    }
    return length;
}

void graft_states_rewind(struct graft_states *states, int32_t slot, int64_t length) {
    for (int32_t i = 0; i < states->count; i++) {
        struct entry *entry = entry_of(states, i, slot);
        if (entry->length > length) {
            void *now = entry->now;
            if (entry->before != NULL) {
                entry->now = entry->before;
                entry->before = now;
            }
            entry->length = length;
            entry->length_before = 0;
        }
    }
}

int graft_states_copy(const struct graft_states *source, int32_t from, struct graft_states *target, int32_t to,
                      struct graft_error *error) {
    int status = source->count > target->count ? add_states(target, source->count, error) : GRAFT_OK;
    for (int32_t i = 0; i < source->count && status == GRAFT_OK; i++) {
        const struct entry *had = entry_of(source, i, from);
        struct entry *made = entry_of(target, i, to);
        made->bytes = had->bytes;
        made->length = had->length;
        made->length_before = 0;
        if (had->length > 0 && (status = reserve(&made->now, had->bytes, error)) == GRAFT_OK) {
            copy_array(made->now, had->now, had->bytes);
        }
    }
    return status;
}

int graft_states_is_at(const struct graft_states *states, int32_t slot, int64_t length) {
    for (int32_t i = 0; i < states->count; i++) {
        if (entry_of(states, i, slot)->length != length) {
            return 0;
        }
    }
    return 1;
}

int64_t graft_states_bytes(const struct graft_states *states, int32_t slot) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < states->count; i++) {
        bytes += GRAFT_STATE_ARRAYS * entry_of(states, i, slot)->bytes;
    }
    return bytes;
}

void graft_states_release(struct graft_states *states, int32_t slot) {
    for (int32_t i = 0; i < states->count; i++) {
        struct entry *entry = entry_of(states, i, slot);
        graft_free(entry->now);
        graft_free(entry->before);
        *entry = (struct entry){0};
    }
}
