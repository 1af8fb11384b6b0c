/* SPDX-License-Identifier: Apache-2.0 */
/* Family files are read strictly; one that is accepted becomes a plugin that a library loads. */
#include <stdlib.h>

#include "fuzz/target.h"
#include "library/library.h"
#include "plugin/family_file.h"
#include "registry/built_in.h"

/* The descriptor made of a file is valid, whatever the file says. */
static void use(const struct graft_family_file *file) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    const struct graft_plugin *plugin = graft_family_file_plugin(file);
    if (graft_library_create(&library, NULL) != GRAFT_OK ||
        graft_library_register_plugin(library, plugin, &error) != GRAFT_OK ||
        graft_family_root(graft_plugin_family(plugin, 0), NULL) == NULL) {
        abort();
    }
    graft_library_free(library);
}

/* Finds the host's families, each of which is read once. */
static struct graft_family_finder host_families(void) {
    static struct graft_built_in *built_in;
    if (built_in == NULL && graft_built_in_hold(&built_in, NULL) != GRAFT_OK) {
        abort();
    }
    return graft_built_in_finder(built_in);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_family_file *file = NULL;
    graft_json *document = NULL;
    if (graft_json_parse((const char *)bytes, size, "fuzz.family.json", &document, &error) != GRAFT_OK) {
        return 0;
    }
    const struct graft_family_finder finder = host_families();
    int status = graft_family_file_take(document, "fuzz.family.json", &finder, &file, &error);
    if (status != error.code || (status == GRAFT_OK) != (file != NULL) ||
        (status != GRAFT_OK && error.message[0] == '\0')) {
        abort();
    }
    if (status == GRAFT_OK) {
        use(file);
    }
    graft_family_file_free(file);
    return 0;
}
