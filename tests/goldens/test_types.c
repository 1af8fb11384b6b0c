/* SPDX-License-Identifier: Apache-2.0 */
/* test_types CASES-FOLDER FAMILIES-FOLDER [NAME...]: compares a miniature of each model type with a causal language
 * model in transformers, and of variants, with the reference: logits, the plan, generating with a cache, saving. Cases
 * that do not run yet are listed in not_yet.txt, one "NAME: WHY" per line; a type's line also holds for its
 * variants. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/folder.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "check.h"
#include "golden.h"
#include "graft/host/graft.h"
#include "graft/host/model.h"
#include "miniature.h"
#include "weights/safetensors.h"

enum { MAX_FILE_BYTES = 1 << 20, MAX_WHY = 2000, MAX_NAME = 64, NEW_TOKENS = 3 };

static struct graft_library *library;
static char *not_yet; /* the whole file */
static int32_t *ids;
static size_t n_ids;

/* A case. `why` collects what is wrong with it, as comment lines of TAP ("#   ..."). */
struct type_case {
    const char *name;
    char *directory;
    double tolerance;
    struct graft_model *model;
    size_t vocab_size;
    char why[MAX_WHY];
};

static void wrong(struct type_case *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void wrong(struct type_case *self, const char *format, ...) {
    size_t used = strlen(self->why);
    va_list arguments;
    if (used + 3 < sizeof self->why) {
        used += (size_t)snprintf(self->why + used, sizeof self->why - used, "#   ");
    }
    va_start(arguments, format);
    if (used < sizeof self->why) {
        (void)vsnprintf(self->why + used, sizeof self->why - used, format, arguments);
    }
    va_end(arguments);
    used = strlen(self->why);
    if (used + 1 < sizeof self->why) {
        memcpy(self->why + used, "\n", 2);
    }
}

/* Whether a call failed; if so, its error is added to `why`. */
static int failed(struct type_case *self, int status, struct graft_error *error) {
    if (status != GRAFT_OK) {
        wrong(self, "%s%s%s", error->source, error->source[0] != '\0' ? ": " : "", error->message);
        *error = graft_error_none();
    }
    return status != GRAFT_OK;
}

/* --- Logits --- */

/* The prompt's logits [n, vocab_size], or NULL; the caller frees them. */
static float *logits_of(struct type_case *self, const int32_t *prompt_ids, size_t n) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = prompt_ids, .count = n};
    struct graft_error error = graft_error_none();
    float *logits = need_memory(n * self->vocab_size, sizeof *logits);
    if (failed(self, graft_model_logits(self->model, &prompt, 1, logits, &error), &error)) {
        free(logits);
        return NULL;
    }
    return logits;
}

static void compare_logits(struct type_case *self, const float *logits) {
    struct graft_error error = graft_error_none();
    struct graft_safetensors *file = NULL;
    if (!failed(self, graft_safetensors_open(folder_path(self->directory, "golden.safetensors"), &file, &error),
                &error)) {
        const struct graft_tensor_view *expected = graft_safetensors_find(file, "logits");
        const int is_sound = expected != NULL && expected->dtype == GRAFT_DTYPE_F32 &&
                             (size_t)expected->bytes == n_ids * self->vocab_size * sizeof *logits;
        const double difference = is_sound ? max_difference(logits, expected->data, n_ids * self->vocab_size) : 0.0;
        if (!is_sound) {
            wrong(self, "the vocabulary has another size: %zu", self->vocab_size);
        } else if (!(difference <= self->tolerance)) {
            wrong(self, "logits differ by %.1e, at most %.1e expected", difference, self->tolerance);
        }
    }
    graft_safetensors_close(file);
}

/* --- With a cache --- */

struct generated {
    int32_t *ids;  /* [n_ids + n]: the prompt and what follows */
    float *logits; /* [NEW_TOKENS, vocab_size]: each token is chosen from a row */
    size_t vocab_size;
    size_t n;
};

static int take_token(void *data, const struct graft_sequence_token *token, struct graft_error *error) {
    struct generated *generated = data;
    (void)error;
    memcpy(generated->logits + generated->n * generated->vocab_size, token->logits,
           generated->vocab_size * sizeof *generated->logits);
    generated->ids[n_ids + generated->n++] = token->id;
    return GRAFT_OK;
}

/* With a cache, token by token, the model gives the same as for all tokens at once. */
static void compare_cached(struct type_case *self) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = n_ids};
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_error error = graft_error_none();
    struct generated generated = {.ids = need_memory(n_ids + NEW_TOKENS, sizeof *ids),
                                  .logits = need_memory(NEW_TOKENS * self->vocab_size, sizeof(float)),
                                  .vocab_size = self->vocab_size};
    memcpy(generated.ids, ids, n_ids * sizeof *ids);
    graft_model_generation(self->model, &generation);
    generation.do_sample = 0;
    generation.ignore_eos = 1;
    generation.max_new_tokens = NEW_TOKENS;
    if (!failed(self, graft_model_generate_tokens(self->model, &prompt, 1, &generation, take_token, &generated, &error),
                &error)) {
        float *whole = logits_of(self, generated.ids, n_ids + NEW_TOKENS);
        const double difference = whole != NULL
                                      ? max_difference(generated.logits, whole + (n_ids - 1) * self->vocab_size,
                                                       NEW_TOKENS * self->vocab_size)
                                      : 0.0;
        if (!(difference <= self->tolerance)) {
            wrong(self, "logits with a cache are %.1e from those without", difference);
        }
        free(whole);
    }
    free(generated.ids);
    free(generated.logits);
}

/* Whether tokens see only earlier ones: then the logits stay the same without the later ones. */
static int is_causal(struct type_case *self, const float *logits) {
    const size_t half = n_ids / 2;
    float *first = logits_of(self, ids, half);
    const int same = first != NULL && max_difference(first, logits, half * self->vocab_size) <= self->tolerance;
    free(first);
    return same;
}

/* --- Cases --- */

/* The reason that not_yet.txt gives for a case: the rest of its line, `*length` bytes. NULL: the case has no line. */
static const char *find_line(const char *name, size_t name_length, size_t *length) {
    for (const char *line = not_yet; line != NULL && *line != '\0'; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, name, name_length) == 0 && strncmp(line + name_length, ": ", 2) == 0) {
            const char *why = line + name_length + 2;
            *length = strcspn(why, "\n");
            return why;
        }
        if (line[strcspn(line, "\n")] == '\0') {
            break;
        }
    }
    return NULL;
}

/* Checks that each line of not_yet.txt names a case that exists. */
static void check_lines(const graft_json *cases) {
    for (const char *line = not_yet; *line != '\0'; line += strcspn(line, "\n") + 1) {
        char name[MAX_NAME];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(line, ":\n"), line);
        check(graft_json_get(cases, name) != NULL, "not_yet.txt: there is no case %s", name);
        if (line[strcspn(line, "\n")] == '\0') {
            break;
        }
    }
}

/* Whether the case has the name of its model type. Such a name may contain a '-', which otherwise ends the type in the
 * name of a variant. */
static int is_type(const struct type_case *self) {
    struct graft_error error = graft_error_none();
    graft_json *config = NULL;
    int is = graft_json_read_strict(folder_path(self->directory, "config.json"), MAX_FILE_BYTES, &config, &error) ==
             GRAFT_OK;
    const char *type = graft_json_string(graft_json_get(config, "model_type"), NULL);
    is = is && type != NULL && strcmp(type, self->name) == 0;
    graft_json_free(config);
    return is;
}

/* The reason that not_yet.txt gives for a case or, for a variant, for its model type, which is a case as well. */
static const char *why_not(const struct type_case *self, const graft_json *cases, size_t *length) {
    const char *name = self->name;
    const char *why = find_line(name, strlen(name), length);
    for (size_t n = strlen(name); why == NULL && n > 0 && !is_type(self); n--) {
        char type[MAX_NAME];
        (void)snprintf(type, sizeof type, "%.*s", (int)n, name);
        why = name[n] == '-' && graft_json_get(cases, type) != NULL ? find_line(name, n, length) : NULL;
    }
    return why;
}

static int open_case(struct type_case *self) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    struct graft_error error = graft_error_none();
    int status = graft_model_open(library, self->directory, &options, &self->model, &error);
    if (status == GRAFT_OK) {
        status = graft_model_load(self->model, &error);
    }
    self->vocab_size = status == GRAFT_OK ? (size_t)graft_model_vocab_size(self->model) : 0;
    return !failed(self, status, &error);
}

static void wrong_line(void *self, const char *what) {
    wrong(self, "%s", what);
}

static void check_case(struct type_case *self) {
    miniature_check_plan(self->model, wrong_line, self);
    float *logits = logits_of(self, ids, n_ids);
    if (logits != NULL) {
        compare_logits(self, logits);
        if (graft_model_plan(self->model)->state_bytes > 0 || is_causal(self, logits)) {
            compare_cached(self);
        }
    }
    free(logits);
    miniature_check_saved(self->model, self->directory, wrong_line, self);
}

static void run_case(const char *folder, const graft_json *cases, const char *name, const graft_json *document,
                     size_t number) {
    struct type_case self = {.name = name, .directory = graft_path_join(folder, name)};
    size_t length = 0;
    const char *why = why_not(&self, cases, &length);
    self.tolerance = miniature_tolerance(document);
    const int runs = open_case(&self);
    if (why != NULL && !runs) {
        (void)printf("ok %zu - %s # SKIP %.*s\n", number, name, (int)length, why);
        goto end;
    }
    if (why != NULL) {
        wrong(&self, "it can be loaded, so its line in tests/goldens/types/not_yet.txt must go");
    }
    if (runs) {
        check_case(&self);
    }
    (void)printf("%s %zu - %s\n%s", self.why[0] == '\0' ? "ok" : "not ok", number, name, self.why);
    check(self.why[0] == '\0', "%s", name);
end:
    graft_model_free(self.model);
    graft_free(self.directory);
}

int main(int argc, char **argv) {
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    void *iterator = NULL;
    const char *name;
    const graft_json *item;
    size_t number = 0, length = 0;
    if (argc < 3) {
        (void)fputs("usage: test_types CASES-FOLDER FAMILIES-FOLDER [NAME...]\n", stderr);
        return 2;
    }
    const char *const families = argv[2];
    need(graft_json_read(folder_path(argv[1], "cases.json"), MAX_FILE_BYTES, &document, &error), &error);
    need(
        graft_file_read(folder_path(argv[1], "not_yet.txt"), MAX_FILE_BYTES, GRAFT_ERROR_IO, &not_yet, &length, &error),
        &error);
    need(graft_library_create(&library, &error), &error);
    need(graft_library_load_plugins(library, &families, 1, NULL, &error), &error);
    ids = golden_ids(document, "input_ids", &n_ids);
    const graft_json *cases = graft_json_get(document, "cases");
    check(graft_json_size(cases) > 0, "there are no cases");
    check_lines(cases);
    while (graft_json_next(cases, &iterator, &name, &item)) {
        if (miniature_is_wanted(name, argv + 3, argc - 3)) {
            run_case(argv[1], cases, name, item, ++number);
        }
    }
    (void)printf("1..%zu\n", number);
    graft_library_free(library);
    graft_json_free(document);
    graft_free(not_yet);
    free(ids);
    return check_failures() != 0;
}
