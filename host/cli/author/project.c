/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/author/project.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "base/fail.h"
#include "base/file.h"

/* Words of templates that differ between C and C++. */
static const struct author_word words_of_c[] = {{"ending", "c"},          {"CC", "CC"},
                                                {"COMPILER", "C"},        {"std", "c11"},
                                                {"meson_language", "c"},  {"meson_std", "c_std=c11"},
                                                {"warning_level", "2"},   {"cmake_language", "C"},
                                                {"cmake_standard", "11"}, {NULL, NULL}};
static const struct author_word words_of_cpp[] = {{"ending", "cc"},          {"CC", "CXX"},
                                                  {"COMPILER", "CXX"},       {"std", "c++17"},
                                                  {"meson_language", "cpp"}, {"meson_std", "cpp_std=c++17"},
                                                  {"warning_level", "2"},    {"cmake_language", "CXX"},
                                                  {"cmake_standard", "17"},  {NULL, NULL}};
static const struct author_word words_of_rust[] = {{"ending", "rs"}, {NULL, NULL}};

/* A file of a project: its name (NULL: the plugin's id with the extension of the language) and its template. */
struct file {
    const char *name;
    const char *template_name; /* NULL: the source */
};

static const struct file files_of_c[] = {{NULL, NULL},
                                         {"Makefile", "c/Makefile.in"},
                                         {"meson.build", "c/meson.build.in"},
                                         {"CMakeLists.txt", "c/CMakeLists.txt.in"},
                                         {"README.md", "README.md.in"},
                                         {NULL, ""}};
static const struct file files_of_rust[] = {{"src/lib.rs", NULL},
                                            {"Cargo.toml", "rust/Cargo.toml.in"},
                                            {"Makefile", "rust/Makefile.in"},
                                            {"README.md", "README.md.in"},
                                            {NULL, ""}};

/* Properties of each language. */
static const struct language {
    const struct author_word *words;
    const struct file *files; /* one without a name whose template is "" ends them */
    const char *gated_mlp;
    const char *wrapper;
} languages[] = {
    [AUTHOR_C] = {words_of_c, files_of_c, "c/gated_mlp.c.in", "c/wrapper.c.in"},
    [AUTHOR_CPP] = {words_of_cpp, files_of_c, "cpp/gated_mlp.cc.in", "cpp/wrapper.cc.in"},
    [AUTHOR_RUST] = {words_of_rust, files_of_rust, "rust/gated_mlp.rs.in", "rust/wrapper.rs.in"},
};

enum { MAX_WORDS = 24 };

/* Expands a template with the words of the project, the language, and those in `more`. */
static void expand(struct graft_text *text, const struct author_project *project, const char *template_name,
                   const struct author_word *more) {
    struct author_word words[MAX_WORDS] = {{NULL, NULL}};
    struct graft_text class_name = {0};
    const char *trait = NULL;
    size_t n = 0;
    (void)author_rust_trait(project->subject->interface, &trait);
    author_class_name(&class_name, project->id);
    const struct author_word own[] = {
        {"id", project->id},
        {"class", class_name.bytes != NULL ? class_name.bytes : ""},
        {"target", project->subject->cls->name},
        {"interface", project->subject->interface->name},
        {"INTERFACE", project->subject->interface->macro},
        {"header", project->subject->interface->header},
        {"model", project->model},
        {"crate", project->crate != NULL ? project->crate : ""},
        {"Trait", trait != NULL ? trait : ""},
    };
    for (; n < sizeof own / sizeof own[0]; n++) {
        words[n] = own[n];
    }
    for (const struct author_word *word = languages[project->language].words; word->name != NULL; word++) {
        words[n++] = *word;
    }
    words[n] = *more;
    author_expand(text, template_name, words);
    text->failed |= class_name.failed;
    graft_text_free(&class_name);
}

static const struct author_word no_word = {NULL, NULL};

void author_source(struct graft_text *text, const struct author_project *project) {
    const struct language *language = &languages[project->language];
    struct graft_text about = {0};
    author_about(&about, project->subject, project->language == AUTHOR_RUST ? AUTHOR_COMMENT_RUST : AUTHOR_COMMENT_C,
                 project->structs);
    if (about.failed) {
        text->failed = 1;
    } else {
        const struct author_word word = {"about", about.bytes};
        expand(text, project, author_is_gated_mlp(project->subject) ? language->gated_mlp : language->wrapper, &word);
    }
    graft_text_free(&about);
}

/* A makefile or another file that is not the source. */
static void add_file(struct graft_text *text, const struct author_project *project, const char *template_name) {
    struct graft_text targets = {0};
    expand(&targets, project, "targets.in", &no_word);
    const struct author_word word = {"targets", targets.bytes != NULL ? targets.bytes : ""};
    expand(text, project, template_name, &word);
    text->failed |= targets.failed;
    graft_text_free(&targets);
}

static char *file_path(const struct author_project *project, const struct file *file, const char *folder) {
    return file->name != NULL
               ? graft_format("%s/%s", folder, file->name)
               : graft_format("%s/%s.%s", folder, project->id, languages[project->language].words[0].value);
}

static int write_file(const struct author_project *project, const struct file *file, const char *path,
                      struct graft_error *error) {
    struct graft_text text = {0};
    if (file->template_name == NULL) {
        author_source(&text, project);
    } else {
        add_file(&text, project, file->template_name);
    }
    const struct graft_file_piece piece = {text.bytes, text.length};
    int status = text.failed ? graft_fail_memory(error, path) : graft_file_write(path, &piece, 1, error);
    graft_text_free(&text);
    return status;
}

static void remove_files(const struct author_project *project, const struct file *end, const char *folder) {
    for (const struct file *file = languages[project->language].files; file != end; file++) {
        char *path = file_path(project, file, folder);
        if (path != NULL) {
            (void)unlink(path);
        }
        graft_free(path);
    }
}

int author_project_write(const struct author_project *project, const char *folder, struct graft_error *error) {
    const struct file *file = languages[project->language].files;
    char *sources = graft_path_join(folder, "src");
    int status = sources != NULL ? GRAFT_OK : graft_fail_memory(error, folder);
    if (status == GRAFT_OK && project->language == AUTHOR_RUST) {
        int failed = graft_disk_make_folder(sources);
        status = failed == 0 ? GRAFT_OK : graft_fail_errno(error, GRAFT_ERROR_IO, sources, "cannot be made", failed);
    }
    for (; status == GRAFT_OK && (file->template_name == NULL || file->template_name[0] != '\0'); file++) {
        char *path = file_path(project, file, folder);
        status = path != NULL ? write_file(project, file, path, error) : graft_fail_memory(error, folder);
        graft_free(path);
    }
    if (status != GRAFT_OK) {
        remove_files(project, file, folder);
        if (sources != NULL) {
            (void)rmdir(sources); /* if it exists */
        }
    }
    graft_free(sources);
    return status;
}
