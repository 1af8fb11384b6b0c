/* SPDX-License-Identifier: Apache-2.0 */
/* What a tally has to say once the model's tree is built: what its user may not have meant, but what is no error. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "registry/nearest.h"
#include "registry/tally_rows.h"

/* Whether patch `i` is the first of its plugin, and none of that plugin's replaces anything. */
static int is_idle_plugin(const struct graft_tally *tally, size_t i) {
    const struct patch *patch = snapshot_patch(tally->snapshot, i);
    for (size_t k = 0; k < tally->n; k++) {
        if (patch_same_source(patch, snapshot_patch(tally->snapshot, k)) && tally->rows[k].won > 0) {
            return 0;
        }
    }
    return patch->declared->key != KEY_BOTH;
}

static int is_first_of_source(const struct graft_tally *tally, size_t i) {
    const struct patch *patch = snapshot_patch(tally->snapshot, i);
    for (size_t k = 0; k < i; k++) {
        if (patch_same_source(patch, snapshot_patch(tally->snapshot, k))) {
            return 0;
        }
    }
    return 1;
}

/* "PLUGIN: " or, of library calls, nothing; then the key. */
static void name_key(const struct patch *patch, struct graft_text *text) {
    int is_call = patch->declared->key == KEY_BOTH;
    const char *what = is_call ? "key" : patch->declared->key == GRAFT_KEY_PATTERN ? "pattern" : "class";
    graft_text_printf(text, "%s%s%s \"%s\"", is_call ? "" : patch->origin.plugin, is_call ? "" : ": ", what,
                      patch->declared->target);
}

/* A name without a class: then it is misspelt, more likely than not. */
static int is_unknown_name(const struct graft_tally *tally, const struct patch *patch) {
    const char *target = patch->declared->target;
    size_t letters = strspn(target, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    int may_be_name = patch->declared->key != GRAFT_KEY_PATTERN && target[letters] == '\0';
    return may_be_name && graft_snapshot_class(tally->snapshot, target, patch->origin.plugin) == NULL;
}

/* Writes what there is to say of patch `i` alone; nothing, mostly. */
static void write_remark(const struct graft_tally *tally, size_t i, struct graft_text *text) {
    const struct tally_row *row = &tally->rows[i];
    const struct patch *patch = snapshot_patch(tally->snapshot, i);
    if (!row->counts || row->left_out || row->won > 0) {
        return;
    }
    if (row->wanted == 0 && is_unknown_name(tally, patch)) {
        struct graft_text near = {0};
        graft_snapshot_suggest(tally->snapshot, patch->declared->target, &near);
        name_key(patch, text);
        graft_text_printf(text, " matches nothing in this model, and there is no class of that name%s%s",
                          near.length > 0 ? "; " : "", near.length > 0 ? near.bytes : "");
        graft_text_free(&near);
    } else if (!is_idle_plugin(tally, i)) {
        name_key(patch, text);
        if (row->wanted == 0) {
            graft_text_add_string(text, " matches nothing in this model");
        } else if (row->lost_to != NULL) {
            graft_text_printf(text, " does nothing here: what it matches is replaced by %s", row->lost_to);
        } else {
            graft_text_add_string(text, " does nothing here: others of its own go before it");
        }
    }
}

static int remark_on(const struct graft_tally *tally, size_t i, graft_tally_add add, void *data,
                     struct graft_error *error) {
    const struct patch *patch = snapshot_patch(tally->snapshot, i);
    struct graft_text text = {0};
    int status = GRAFT_OK;
    if (is_idle_plugin(tally, i) && is_first_of_source(tally, i)) {
        status = add(data, graft_format("plugin %s replaces nothing in this model", patch->origin.plugin), error);
    }
    if (status == GRAFT_OK && patch->invalid != NULL && tally->rows[i].counts) {
        status =
            add(data, graft_format("key \"%s\" is taken for a name only: %s", patch->declared->target, patch->invalid),
                error);
    }
    write_remark(tally, i, &text);
    if (status == GRAFT_OK && text.failed) {
        status = graft_fail_memory(error, patch_source(patch));
    } else if (status == GRAFT_OK && text.length > 0) {
        status = add(data, graft_strdup(text.bytes), error);
    }
    graft_text_free(&text);
    return status;
}

int graft_tally_remark(const struct graft_tally *tally, graft_tally_add add, void *data, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < tally->n_notes && status == GRAFT_OK; i++) {
        status = add(data, graft_strdup(tally->notes[i]), error);
    }
    for (size_t i = 0; i < tally->n && status == GRAFT_OK; i++) {
        status = remark_on(tally, i, add, data, error);
    }
    return status;
}
