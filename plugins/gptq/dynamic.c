/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic.h"

#include <stdio.h>
#include <string.h>

enum { PATTERN = 512 };

static int matches(const struct graft_config *config, const struct graft_regexes *regexes, const char *key,
                   const char *path, int32_t *found, struct graft_error *error) {
    char pattern[PATTERN];
    const char *bare = strncmp(key, "+:", 2) == 0 || strncmp(key, "-:", 2) == 0 ? key + 2 : key;
    if (strlen(bare) >= PATTERN - sizeof "^(?:)") {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "quantization_config.dynamic: a pattern is longer than %d characters", PATTERN - 8);
    }
    (void)snprintf(pattern, sizeof pattern, "^(?:%.*s)", PATTERN - 8, bare);
    return regexes->search(pattern, path, config->file, found, error);
}

int gptq_find_place(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                    char place[GPTQ_PLACE], struct graft_error *error) {
    static const char dynamic[] = "quantization_config.dynamic";
    const char *key;
    (void)snprintf(place, GPTQ_PLACE, "quantization_config");
    for (int64_t i = 0; (key = config->key(config->data, dynamic, i)) != NULL; i++) {
        int32_t found = 0;
        int status = matches(config, regexes, key, path, &found, error);
        if (status != GRAFT_OK || found) {
            (void)snprintf(place, GPTQ_PLACE, "%s.#%lld", dynamic, (long long)i);
            return status;
        }
    }
    return GRAFT_OK;
}
