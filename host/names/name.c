/* SPDX-License-Identifier: Apache-2.0 */
#include "names/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INDEX_DIGITS = 9 };

int64_t graft_name_index(const char *digits, size_t length) {
    int is_index = length > 0 && length <= MAX_INDEX_DIGITS && (length == 1 || digits[0] != '0');
    for (size_t i = 0; i < length && is_index; i++) {
        is_index = digits[i] >= '0' && digits[i] <= '9';
    }
    return is_index ? strtoll(digits, NULL, 10) : -1;
}

int graft_name_indexed(const char *name, int64_t index, char indexed[GRAFT_NAME_BYTES]) {
    const char *star = strchr(name, '*');
    if (star == NULL) {
        return graft_name_below("", name, indexed);
    }
    int length =
        snprintf(indexed, GRAFT_NAME_BYTES, "%.*s%lld%s", (int)(star - name), name, (long long)index, star + 1);
    return length >= 0 && length < GRAFT_NAME_BYTES;
}

int graft_name_below(const char *path, const char *name, char full[GRAFT_NAME_BYTES]) {
    const size_t above = strlen(path), before = above > 0 ? above + 1 : 0, length = strlen(name);
    if (before + length >= GRAFT_NAME_BYTES) {
        return 0;
    }
    if (above > 0) {
        memcpy(full, path, above + 1);
        full[above] = '.';
    }
    memcpy(full + before, name, length + 1);
    return 1;
}

int graft_name_spell(const char *prefix, const char *name, enum graft_spelling spelling,
                     char spelled[GRAFT_NAME_BYTES]) {
    const size_t length = strlen(prefix);
    if (spelling != GRAFT_SPELLED_AS_IS && length == 0) {
        return 0;
    }
    if (spelling == GRAFT_SPELLED_WITHOUT_PREFIX) {
        if (strncmp(name, prefix, length) != 0 || name[length] != '.') {
            return 0;
        }
        name += length + 1;
    }
    return graft_name_below(spelling == GRAFT_SPELLED_WITH_PREFIX ? prefix : "", name, spelled);
}

int graft_name_in_model(const char *prefix, const char *name, graft_name_known known, void *data,
                        char spelled[GRAFT_NAME_BYTES]) {
    static const enum graft_spelling spellings[] = {GRAFT_SPELLED_AS_IS, GRAFT_SPELLED_WITHOUT_PREFIX,
                                                    GRAFT_SPELLED_WITH_PREFIX};
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        if (graft_name_spell(prefix, name, spellings[i], spelled) && known(data, spelled)) {
            return 1;
        }
    }
    if (!graft_name_spell(prefix, name, GRAFT_SPELLED_AS_IS, spelled)) {
        spelled[0] = '\0';
    }
    return 0;
}
