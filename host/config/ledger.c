/* SPDX-License-Identifier: Apache-2.0 */
#include "config/ledger.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "config/config.h"
#include "config/path.h"

/* More distinct fields than any config has. Questions beyond that are answered but not recorded. */
enum { MAX_ASKED = 1 << 20 };

struct graft_ledger {
    struct graft_config plain; /* reads the document without recording */
    char **names;              /* [n] fields asked for, in order */
    size_t n;
    size_t capacity;
    size_t *slots;  /* [n_slots] hash table with open addressing: index into `names` plus 1; 0: free */
    size_t n_slots; /* a power of two, at least twice `n` */
    int is_closed;
    int failed; /* memory ran out */
};

/* --- The set of names --- */

/* The slot of a name, or the free slot where it belongs. */
static size_t *slot_of(const struct graft_ledger *ledger, const char *name) {
    size_t at = graft_text_hash(0, name) & (ledger->n_slots - 1);
    while (ledger->slots[at] != 0 && strcmp(ledger->names[ledger->slots[at] - 1], name) != 0) {
        at = (at + 1) & (ledger->n_slots - 1);
    }
    return &ledger->slots[at];
}

static int make_room(struct graft_ledger *ledger) {
    enum { FIRST = 128 };
    if (graft_grow(&ledger->names, &ledger->capacity, ledger->n, sizeof *ledger->names) != 0) {
        return -1;
    }
    if (2 * (ledger->n + 1) <= ledger->n_slots) {
        return 0;
    }
    size_t n_slots = ledger->n_slots > 0 ? 2 * ledger->n_slots : FIRST;
    size_t *slots = graft_alloc(n_slots, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    graft_free(ledger->slots);
    ledger->slots = slots;
    ledger->n_slots = n_slots;
    for (size_t i = 0; i < ledger->n; i++) {
        *slot_of(ledger, ledger->names[i]) = i + 1;
    }
    return 0;
}

static void add(struct graft_ledger *ledger, const char *name) {
    if (ledger->n == MAX_ASKED || graft_ledger_has(ledger, name)) {
        return;
    }
    char *copy = make_room(ledger) == 0 ? graft_strdup(name) : NULL;
    if (copy == NULL) {
        ledger->failed = 1;
        return;
    }
    ledger->names[ledger->n++] = copy;
    *slot_of(ledger, copy) = ledger->n;
}

/* --- Recording --- */

static void record(struct graft_ledger *ledger, const char *path, int asks_for_kind) {
    char field[GRAFT_MAX_FIELD];
    if (ledger->is_closed || graft_ledger_has(ledger, path)) {
        return; /* the field is recorded already, which is the usual case */
    }
    const graft_json *value = graft_path_find(ledger->plain.data, path, field);
    int is_array = graft_json_type(value) == GRAFT_JSON_ARRAY;
    if (field[0] != '\0' && (value == NULL || graft_path_is_field(value)) && !(asks_for_kind && is_array)) {
        add(ledger, field);
    }
}

static struct graft_ledger *ledger_of(const void *data) {
    return (struct graft_ledger *)(uintptr_t)data;
}

static int32_t kind(const void *data, const char *path) {
    struct graft_ledger *ledger = ledger_of(data);
    record(ledger, path, 1);
    return ledger->plain.kind(ledger->plain.data, path);
}

static int64_t integer(const void *data, const char *path) {
    struct graft_ledger *ledger = ledger_of(data);
    record(ledger, path, 0);
    return ledger->plain.integer(ledger->plain.data, path);
}

static double real(const void *data, const char *path) {
    struct graft_ledger *ledger = ledger_of(data);
    record(ledger, path, 0);
    return ledger->plain.real(ledger->plain.data, path);
}

static const char *string(const void *data, const char *path) {
    struct graft_ledger *ledger = ledger_of(data);
    record(ledger, path, 0);
    return ledger->plain.string(ledger->plain.data, path);
}

static int64_t size(const void *data, const char *path) {
    struct graft_ledger *ledger = ledger_of(data);
    record(ledger, path, 0);
    return ledger->plain.size(ledger->plain.data, path);
}

static const char *spelling(const void *data, const char *path) {
    (void)data;
    return path;
}

static const char *key(const void *data, const char *path, int64_t i) {
    const struct graft_ledger *ledger = data;
    return ledger->plain.key(ledger->plain.data, path, i);
}

/* --- The ledger --- */

struct graft_ledger *graft_ledger_create(const graft_json *document) {
    struct graft_ledger *ledger = graft_alloc(1, sizeof *ledger);
    if (ledger != NULL) {
        ledger->plain = graft_config_view(document, "");
    }
    return ledger;
}

void graft_ledger_free(struct graft_ledger *ledger) {
    if (ledger != NULL) {
        for (size_t i = 0; i < ledger->n; i++) {
            graft_free(ledger->names[i]);
        }
        graft_free(ledger->names);
        graft_free(ledger->slots);
        graft_free(ledger);
    }
}

struct graft_config graft_ledger_view(struct graft_ledger *ledger, const char *file) {
    return (struct graft_config){
        .struct_size = sizeof(struct graft_config),
        .file = file,
        .data = ledger,
        .kind = kind,
        .integer = integer,
        .real = real,
        .string = string,
        .size = size,
        .spelling = spelling,
        .key = key,
    };
}

int graft_ledger_close(struct graft_ledger *ledger) {
    ledger->is_closed = 1;
    return ledger->failed ? -1 : 0;
}

int graft_ledger_has(const struct graft_ledger *ledger, const char *field) {
    return ledger->n_slots > 0 && *slot_of(ledger, field) != 0;
}

size_t graft_ledger_count(const struct graft_ledger *ledger) {
    return ledger->n;
}

const char *graft_ledger_at(const struct graft_ledger *ledger, size_t i) {
    return i < ledger->n ? ledger->names[i] : NULL;
}
