/* SPDX-License-Identifier: Apache-2.0 */
#include "classes.h"

#include <stdio.h>
#include <string.h>

#include "../plugins/parts.h"
#include "base/alloc.h"

int world_init(struct world *world) {
    *world = (struct world){.registry = graft_registry_create(NULL)};
    return world->registry != NULL ? 0 : -1;
}

static void free_list(struct made *made) {
    while (made != NULL) {
        struct made *next = made->next;
        graft_free(made->name);
        graft_free(made);
        made = next;
    }
}

void world_finish(struct world *world) {
    graft_registry_free(world->registry);
    free_list(world->originals);
    free_list(world->replacements);
}

static struct made *make(struct made **list, const char *name) {
    struct made *made = graft_alloc(1, sizeof *made);
    if (made == NULL || (made->name = graft_strdup(name)) == NULL) {
        graft_free(made);
        return NULL;
    }
    made->cls = good_class(NULL, 0);
    made->cls.name = made->name;
    made->next = *list;
    *list = made;
    return made;
}

int world_add(struct world *world, const char *name, const char *plugin) {
    const struct graft_origin origin = {.plugin = plugin};
    const struct made *made = make(&world->originals, name);
    return made != NULL &&
                   graft_registry_add_class(world->registry, &made->cls, &origin, plugin != NULL, NULL) == GRAFT_OK
               ? 0
               : -1;
}

/* Bytes that are no class, to pass where a class is expected. */
union impostor {
    struct graft_class cls;
    struct graft_module instance;
    char text[sizeof(struct graft_class)];
};

const struct graft_class *world_replacement(struct world *world, const char *name) {
    static const union impostor instance = {.instance = {.struct_size = sizeof instance.instance}};
    static const union impostor text = {.text = "LlamaAttention"};
    static const union impostor plain = {.cls = {.struct_size = sizeof plain.cls, .name = "NotAModule"}};
    if (strcmp(name, "<none>") == 0) {
        return NULL;
    }
    if (name[0] == '<') {
        return strcmp(name, "<instance>") == 0 ? &instance.cls : strcmp(name, "<string>") == 0 ? &text.cls : &plain.cls;
    }
    for (const struct made *made = world->replacements; made != NULL; made = made->next) {
        if (strcmp(made->name, name) == 0) {
            return &made->cls;
        }
    }
    const struct made *made = make(&world->replacements, name);
    return made != NULL ? &made->cls : NULL;
}

const char *world_role(const struct world *world, const struct graft_class *cls, char text[256]) {
    const char *kind = "unknown";
    for (const struct made *made = world->originals; made != NULL; made = made->next) {
        kind = &made->cls == cls ? "original" : kind;
    }
    for (const struct made *made = world->replacements; made != NULL; made = made->next) {
        kind = &made->cls == cls ? "patch" : kind;
    }
    (void)snprintf(text, 256, "%s:%s", kind, cls->name);
    return text;
}
