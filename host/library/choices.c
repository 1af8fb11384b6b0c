/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/host/choices.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/decoder/choices.h"
#include "arch/vision/choices.h"

_Static_assert((int)GRAFT_FAMILY_CHOICE_NAME == (int)GRAFT_CHOICE_NAME &&
                   (int)GRAFT_FAMILY_CHOICE_WORD == (int)GRAFT_CHOICE_WORD &&
                   (int)GRAFT_FAMILY_CHOICE_TEXT == (int)GRAFT_CHOICE_TEXT &&
                   (int)GRAFT_FAMILY_CHOICE_INT == (int)GRAFT_CHOICE_INT &&
                   (int)GRAFT_FAMILY_CHOICE_REAL == (int)GRAFT_CHOICE_REAL &&
                   (int)GRAFT_FAMILY_CHOICE_BOOL == (int)GRAFT_CHOICE_BOOL,
               "one numbering");

/* The members of a family file that have choices, with the table of each. */
static const struct member {
    const char *name;
    const struct graft_choices *choices;
} members[] = {{"decoder", &graft_decoder_choices}, {"vision", &graft_vision_choices}};

int graft_family_choice_at(size_t i, struct graft_family_choice *choice) {
    const struct member *member = members;
    const struct member *const end = members + sizeof members / sizeof members[0];
    for (; member != end && i >= (size_t)member->choices->count; member++) {
        i -= (size_t)member->choices->count;
    }
    if (member == end) {
        return 0;
    }
    const struct graft_choice_info *info = &member->choices->infos[i];
    const struct graft_family_choice filled = {
        .struct_size = choice->struct_size,
        .kind = info->kind,
        .name = info->name,
        .says = info->says,
        .fallback = info->fallback,
        .words = info->words,
        .minimum = info->minimum,
        .maximum = info->maximum,
        .least = info->least,
        .is_above = (info->flags & GRAFT_CHOICE_ABOVE) != 0,
        .is_by_layer = (info->flags & GRAFT_CHOICE_BY_LAYER) != 0,
        .is_nullable = (info->flags & GRAFT_CHOICE_NULLABLE) != 0,
        .member = member->name,
    };
    memcpy(choice, &filled, choice->struct_size < sizeof filled ? choice->struct_size : sizeof filled);
    return 1;
}

/* "TYPE.family.json" */
static int is_of(const struct graft_family_text *text, const char *model_type) {
    const size_t length = strlen(model_type);
    return strncmp(text->name, model_type, length) == 0 && strcmp(text->name + length, ".family.json") == 0;
}

const char *graft_family_text(const char *model_type, size_t *length) {
    for (const struct graft_family_text *text = graft_built_in_texts(); text->name != NULL; text++) {
        if (is_of(text, model_type)) {
            *length = text->size;
            return text->text;
        }
    }
    return NULL;
}
