/* SPDX-License-Identifier: Apache-2.0 */
/* Templates, and which one fits a class. */
#include <ctype.h>
#include <string.h>

#include "cli/author/author.h"
#include "graft/activation.h"
#include "graft/host/modules.h"
#include "graft/linear.h"
#include "graft/mlp.h"

static const char *find_template(const char *name) {
    const struct sdk_template *found = graft_sdk_templates;
    while (found->name != NULL && strcmp(found->name, name) != 0) {
        found++;
    }
    return found->text;
}

static const struct author_word *find_word(const struct author_word *words, const char *name, size_t length) {
    while (words->name != NULL && (strlen(words->name) != length || memcmp(words->name, name, length) != 0)) {
        words++;
    }
    return words->name != NULL ? words : NULL;
}

void author_expand(struct graft_text *text, const char *template_name, const struct author_word *words) {
    const char *at = find_template(template_name);
    while (*at != '\0') {
        const char *sign = strchr(at, '@');
        const char *end = sign != NULL ? strchr(sign + 1, '@') : NULL;
        const struct author_word *word = end != NULL ? find_word(words, sign + 1, (size_t)(end - sign - 1)) : NULL;
        if (word != NULL) {
            graft_text_add(text, at, (size_t)(sign - at));
            graft_text_add_string(text, word->value);
            at = end + 1;
        } else { /* a make variable, "$@", or the rest */
            size_t length = sign != NULL ? (size_t)(sign - at) + 1 : strlen(at);
            graft_text_add(text, at, length);
            at += length;
        }
    }
}

static int has_child(const struct graft_named_module *module, const char *name, const char *interface_id) {
    for (size_t i = 0; i < module->n_children; i++) {
        const struct graft_named_module *child = module->children[i];
        if (strcmp(child->name, name) == 0) {
            return child->interface_id != NULL && strcmp(child->interface_id, interface_id) == 0;
        }
    }
    return 0;
}

int author_is_gated_mlp(const struct author_subject *subject) {
    const struct graft_named_module *module = subject->module;
    return strcmp(subject->cls->interface_id, GRAFT_INTERFACE_MLP) == 0 && module->n_children == 4 &&
           module->n_parameters == 0 && subject->cls->n_conversions == 0 &&
           has_child(module, "gate_proj", GRAFT_INTERFACE_LINEAR) &&
           has_child(module, "up_proj", GRAFT_INTERFACE_LINEAR) &&
           has_child(module, "down_proj", GRAFT_INTERFACE_LINEAR) &&
           has_child(module, "act_fn", GRAFT_INTERFACE_ACTIVATION);
}

int author_rust_trait(const struct sdk_interface *interface, const char **trait) {
    static const char *const traits[][2] = {{"mlp", "Mlp"},
                                            {"linear", "Linear"},
                                            {"norm", "Norm"},
                                            {"activation", "Activation"},
                                            {"self_attention", "SelfAttention"}};
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++) {
        if (strcmp(traits[i][0], interface->name) == 0) {
            *trait = traits[i][1];
            return 1;
        }
    }
    return 0;
}

void author_class_name(struct graft_text *text, const char *id) {
    int is_first = 1;
    for (; *id != '\0'; id++) {
        char letter = is_first ? (char)toupper((unsigned char)*id) : *id;
        if (*id != '_') {
            graft_text_add(text, &letter, 1);
        }
        is_first = *id == '_';
    }
}
