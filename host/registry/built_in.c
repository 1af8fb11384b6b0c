/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/built_in.h"

#include <pthread.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "plugin/family_file.h"

enum { BUCKETS = 128 };

struct known_class {
    struct graft_known_class known;
    struct known_class *next; /* next class in the same bucket */
};

/* The content of one family file. */
struct entry {
    struct graft_family_file *file; /* NULL until the file is read */
    struct graft_known_family known;
    struct known_class *classes; /* [known.family->n_classes] */
};

struct graft_built_in {
    pthread_mutex_t lock;
    struct entry *entries; /* [n], in the order of the texts */
    size_t n;
    struct known_class *first_in[BUCKETS];
    char *missed[BUCKETS]; /* for each bucket, the last name asked for that no file has; or NULL */
};

/* What all libraries of the process share while there is one. */
static struct {
    pthread_mutex_t lock;
    struct graft_built_in *families;
    size_t holders;
} shared = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static void destroy(struct graft_built_in *built_in) {
    for (size_t i = 0; built_in->entries != NULL && i < built_in->n; i++) {
        graft_family_file_free(built_in->entries[i].file);
        graft_free(built_in->entries[i].classes);
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        graft_free(built_in->missed[i]);
    }
    graft_free(built_in->entries);
    (void)pthread_mutex_destroy(&built_in->lock);
    graft_free(built_in);
}

static int create(struct graft_built_in **built_in, struct graft_error *error) {
    struct graft_built_in *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, "library");
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    while (graft_built_in_texts()[made->n].name != NULL) {
        made->n++;
    }
    made->entries = graft_alloc(made->n, sizeof *made->entries);
    if (made->entries == NULL) {
        destroy(made);
        return graft_fail_memory(error, "library");
    }
    *built_in = made;
    return GRAFT_OK;
}

int graft_built_in_hold(struct graft_built_in **built_in, struct graft_error *error) {
    (void)pthread_mutex_lock(&shared.lock);
    const int status = shared.holders == 0 ? create(&shared.families, error) : GRAFT_OK;
    shared.holders += status == GRAFT_OK;
    *built_in = status == GRAFT_OK ? shared.families : NULL;
    (void)pthread_mutex_unlock(&shared.lock);
    return status;
}

void graft_built_in_release(struct graft_built_in *built_in) {
    (void)pthread_mutex_lock(&shared.lock);
    if (built_in != NULL && --shared.holders == 0) {
        destroy(built_in);
    }
    (void)pthread_mutex_unlock(&shared.lock);
}

/* Enters the content of a file into the hash tables. */
static void enter(struct graft_built_in *built_in, struct entry *entry, struct graft_family_file *file,
                  struct known_class *classes) {
    const struct graft_family *family = graft_family_file_plugin(file)->families;
    *entry = (struct entry){.file = file, .known = {.family = family}, .classes = classes};
    for (int32_t i = 0; i < family->n_classes; i++) {
        const struct graft_class *cls = graft_family_class(family, i);
        const uint64_t hash = graft_text_hash(0, cls->name);
        classes[i] =
            (struct known_class){.known = {.cls = cls, .name_hash = hash}, .next = built_in->first_in[hash % BUCKETS]};
        built_in->first_in[hash % BUCKETS] = &classes[i];
    }
}

static const struct graft_known_class *find_read(const struct graft_built_in *built_in, const char *name,
                                                 uint64_t hash) {
    for (const struct known_class *at = built_in->first_in[hash % BUCKETS]; at != NULL; at = at->next) {
        if (at->known.name_hash == hash && strcmp(at->known.cls->name, name) == 0) {
            return &at->known;
        }
    }
    return NULL;
}

/* The functions below look up families and classes for a file that is being read. Files that it needs have been read
 * before. The caller holds the lock. */

static int find_read_family(void *data, const char *model_type, const struct graft_family **found,
                            struct graft_error *error) {
    const struct graft_built_in *built_in = data;
    (void)error;
    *found = NULL;
    for (size_t i = 0; i < built_in->n && *found == NULL; i++) {
        const int is_it =
            built_in->entries[i].file != NULL && strcmp(graft_built_in_texts()[i].model_type, model_type) == 0;
        *found = is_it ? built_in->entries[i].known.family : NULL;
    }
    return GRAFT_OK;
}

static int find_read_class(void *data, const char *name, const struct graft_class **found, struct graft_error *error) {
    const struct graft_known_class *known = find_read(data, name, graft_text_hash(0, name));
    (void)error;
    *found = known != NULL ? known->cls : NULL;
    return GRAFT_OK;
}

static void name_all(void *built_in, struct graft_nearest *nearest) {
    const struct graft_built_in *self = built_in;
    for (size_t i = 0; i < self->n; i++) {
        graft_nearest_add(nearest, graft_built_in_texts()[i].model_type);
    }
}

/* Reads a file, after the files that it needs. The caller holds the lock. */
static int read_text(struct graft_built_in *built_in, size_t place, struct graft_error *error) {
    const struct graft_family_text *text = &graft_built_in_texts()[place];
    struct entry *entry = &built_in->entries[place];
    struct graft_family_file *file = NULL;
    graft_json *document = NULL;
    int status = GRAFT_OK;
    for (const int *need = text->needs; entry->file == NULL && *need >= 0 && status == GRAFT_OK; need++) {
        status = read_text(built_in, (size_t)*need, error);
    }
    if (status != GRAFT_OK || entry->file != NULL) {
        return status;
    }
    status = graft_json_parse(text->text, text->size, text->name, &document, error);
    if (status == GRAFT_OK) {
        const struct graft_family_finder finder = {built_in, find_read_family, find_read_class, name_all};
        status = graft_family_file_take(document, text->name, &finder, &file, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct known_class *classes =
        graft_alloc((size_t)graft_family_file_plugin(file)->families->n_classes, sizeof *classes);
    if (classes == NULL) {
        graft_family_file_free(file);
        return graft_fail_memory(error, text->name);
    }
    enter(built_in, entry, file, classes);
    return GRAFT_OK;
}

int graft_built_in_find_family(struct graft_built_in *built_in, const char *model_type,
                               const struct graft_known_family **known, struct graft_error *error) {
    int status = GRAFT_OK;
    *known = NULL;
    for (size_t i = 0; i < built_in->n; i++) {
        if (strcmp(graft_built_in_texts()[i].model_type, model_type) == 0) {
            (void)pthread_mutex_lock(&built_in->lock);
            status = read_text(built_in, i, error);
            (void)pthread_mutex_unlock(&built_in->lock);
            *known = status == GRAFT_OK ? &built_in->entries[i].known : NULL;
            break;
        }
    }
    return status;
}

/* Whether the file may have a class of that name. */
static int may_make(const struct graft_family_text *text, const char *name) {
    if (text->prefix != NULL && strncmp(name, text->prefix, strlen(text->prefix)) == 0) {
        return 1;
    }
    for (const char *const *named = text->classes; *named != NULL; named++) {
        if (strcmp(*named, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Reads the files that may have a class, until one does. The caller holds the lock. */
static int find_unread(struct graft_built_in *built_in, const char *name, uint64_t hash,
                       const struct graft_known_class **known, struct graft_error *error) {
    char **missed = &built_in->missed[hash % BUCKETS];
    int status = GRAFT_OK;
    if (*missed != NULL && strcmp(*missed, name) == 0) {
        return GRAFT_OK;
    }
    for (size_t i = 0; i < built_in->n && *known == NULL && status == GRAFT_OK; i++) {
        if (built_in->entries[i].file == NULL && may_make(&graft_built_in_texts()[i], name)) {
            status = read_text(built_in, i, error);
            *known = find_read(built_in, name, hash);
        }
    }
    if (status == GRAFT_OK && *known == NULL) {
        graft_free(*missed);
        *missed = graft_strdup(name); /* if memory ran out, the name is searched again next time */
    }
    return status;
}

int graft_built_in_find_class(struct graft_built_in *built_in, const char *name, const struct graft_known_class **known,
                              struct graft_error *error) {
    const uint64_t hash = graft_text_hash(0, name);
    int status = GRAFT_OK;
    (void)pthread_mutex_lock(&built_in->lock);
    *known = find_read(built_in, name, hash);
    if (*known == NULL) {
        status = find_unread(built_in, name, hash, known, error);
    }
    (void)pthread_mutex_unlock(&built_in->lock);
    return status;
}

int graft_built_in_has(struct graft_built_in *built_in, const struct graft_class *cls) {
    int found = 0;
    (void)pthread_mutex_lock(&built_in->lock);
    for (size_t i = 0; i < BUCKETS && !found; i++) {
        for (const struct known_class *at = built_in->first_in[i]; at != NULL && !found; at = at->next) {
            found = at->known.cls == cls;
        }
    }
    (void)pthread_mutex_unlock(&built_in->lock);
    return found;
}

int graft_built_in_read_all(struct graft_built_in *built_in, struct graft_error *error) {
    int status = GRAFT_OK;
    (void)pthread_mutex_lock(&built_in->lock);
    for (size_t i = 0; i < built_in->n && status == GRAFT_OK; i++) {
        status = read_text(built_in, i, error);
    }
    (void)pthread_mutex_unlock(&built_in->lock);
    return status;
}

const struct graft_known_family *graft_built_in_family_at(const struct graft_built_in *built_in, size_t *i) {
    if (*i < built_in->n) {
        return &built_in->entries[*i].known;
    }
    *i -= built_in->n;
    return NULL;
}

const struct graft_known_class *graft_built_in_class_at(const struct graft_built_in *built_in, size_t *i) {
    for (size_t k = 0; k < built_in->n; k++) {
        const size_t n = (size_t)built_in->entries[k].known.family->n_classes;
        if (*i < n) {
            return &built_in->entries[k].classes[*i].known;
        }
        *i -= n;
    }
    return NULL;
}

/* The functions of a finder for family files that are loaded. */

static int find_any_family(void *built_in, const char *model_type, const struct graft_family **found,
                           struct graft_error *error) {
    const struct graft_known_family *known = NULL;
    int status = graft_built_in_find_family(built_in, model_type, &known, error);
    *found = known != NULL ? known->family : NULL;
    return status;
}

static int find_any_class(void *built_in, const char *name, const struct graft_class **found,
                          struct graft_error *error) {
    const struct graft_known_class *known = NULL;
    int status = graft_built_in_find_class(built_in, name, &known, error);
    *found = known != NULL ? known->cls : NULL;
    return status;
}

struct graft_family_finder graft_built_in_finder(struct graft_built_in *built_in) {
    return (struct graft_family_finder){built_in, find_any_family, find_any_class, name_all};
}
