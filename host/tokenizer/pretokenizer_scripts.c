/* SPDX-License-Identifier: Apache-2.0 */
/* UnicodeScripts: splits words where the script changes. */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/script_ranges.h"

/* The number of the character's script, or 0. */
static uint8_t script_of(uint32_t code) {
    size_t low = 0, high = graft_n_script_ranges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > graft_script_ranges[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < graft_n_script_ranges && code >= graft_script_ranges[low].first ? graft_script_ranges[low].script : 0;
}

/* Characters without a script belong to the word before them. Those before the first word are dropped, as in the
 * reference. */
static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    size_t open = 0;
    uint8_t last = 0;
    (void)self;
    (void)scratch;
    (void)error;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = graft_utf8_read(text + at, &code);
        uint8_t script = script_of(code);
        if (script != 0 && script != last) {
            if (last != 0) {
                graft_pieces_add(out, text + open, at - open, first && open == 0);
            }
            open = at;
            last = script;
        }
        at += n;
    }
    if (last != 0) {
        graft_pieces_add(out, text + open, length - open, first && open == 0);
    }
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_free(self);
}

int graft_pretokenizer_create_scripts(const struct graft_field *spec, const char *type,
                                      struct graft_pretokenizer **made, struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_field_object(spec, keys, error);
    (void)type;
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_pretokenizer *scripts = graft_alloc(1, sizeof *scripts);
    if (scripts == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    scripts->run = run;
    scripts->destroy = destroy;
    *made = scripts;
    return GRAFT_OK;
}
