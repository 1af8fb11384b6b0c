/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/package/deb.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "cli/package/manifest.h"

/* Debian's name for a machine; NULL if it is not known. */
static const char *architecture(const char *machine) {
    static const char *const names[][2] = {{"x86_64-linux", "amd64"},
                                           {"aarch64-linux", "arm64"},
                                           {"riscv64-linux", "riscv64"},
                                           {"ppc64le-linux", "ppc64el"},
                                           {MANIFEST_ANY_MACHINE, "all"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(machine, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return NULL;
}

/* Finds the Debian packages that the plugin depends on, from the libraries that it is linked to: the line of the
 * control file, or "". */
static const char *dependencies(const char *machine, const struct package_file *object) {
    if (!manifest_is_code(machine)) {
        return "";
    }
    static const char library[] = "libstdc++.so.6";
    for (size_t i = 0; i + sizeof library <= object->length; i++) {
        if (memcmp(object->bytes + i, library, sizeof library) == 0) {
            return "Depends: libc6, libstdc++6, libgcc-s1\n";
        }
    }
    return "Depends: libc6\n";
}

/* Makes a folder below `root`. */
static int make_folders(const char *root, const char *below, struct graft_error *error) {
    char *path = graft_path_join(root, below);
    int status = path != NULL ? graft_folder_make_all(path, error) : graft_fail_memory(error, root);
    graft_free(path);
    return status;
}

static int write_file(const char *root, const char *below, const char *name, const char *bytes, size_t length,
                      struct graft_error *error) {
    const struct graft_file_piece piece = {bytes, length};
    char *path = graft_format("%s/%s/%s", root, below, name);
    int status = path != NULL ? graft_file_write(path, &piece, 1, error) : graft_fail_memory(error, name);
    if (status == GRAFT_OK && chmod(path, 0644) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, path, "chmod", errno);
    }
    graft_free(path);
    return status;
}

static int write_control(const char *root, const char *package, const struct graft_plugin *descriptor,
                         const char *machine, const struct package_file *object, struct graft_error *error) {
    struct graft_text text = {0};
    graft_text_printf(&text,
                      "Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s <%s>\n%sSection: science\n"
                      "Priority: optional\nDescription: plugin for Graft: %s\n",
                      package, descriptor->version, architecture(machine), getenv("DEBFULLNAME"), getenv("DEBEMAIL"),
                      dependencies(machine, object), descriptor->description);
    int status = make_folders(root, "DEBIAN", error);
    if (status == GRAFT_OK) {
        status = text.failed ? graft_fail_memory(error, package)
                             : write_file(root, "DEBIAN", "control", text.bytes, text.length, error);
    }
    graft_text_free(&text);
    return status;
}

/* The object and the manifest go to the folder of plugins, documents to /usr/share/doc. The first file is the
 * object. */
static int write_tree(const char *root, const char *package, const struct graft_plugin *descriptor, const char *machine,
                      const struct package_file *files, size_t n, struct graft_error *error) {
    char *plugins = graft_format("%s/%s", &GRAFT_PLUGINS_DIR[1], descriptor->id);
    char *documents = graft_format("usr/share/doc/%s", package);
    int status = plugins != NULL && documents != NULL ? GRAFT_OK : graft_fail_memory(error, package);
    if (status == GRAFT_OK) {
        status = make_folders(root, plugins, error);
    }
    if (status == GRAFT_OK) {
        status = make_folders(root, documents, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const int is_document = i > 0 && strcmp(files[i].name, MANIFEST_NAME) != 0;
        const char *name = is_document && strncmp(files[i].name, "README", 6) != 0 ? "copyright" : files[i].name;
        status = write_file(root, is_document ? documents : plugins, name, files[i].bytes, files[i].length, error);
    }
    if (status == GRAFT_OK) {
        status = write_control(root, package, descriptor, machine, &files[0], error);
    }
    graft_free(documents);
    graft_free(plugins);
    return status;
}

static int run_dpkg(char *root, char *output, struct graft_error *error) {
    extern char **environ;
    char *arguments[] = {(char[]){"dpkg-deb"}, (char[]){"--root-owner-group"}, (char[]){"--build"}, root, output, NULL};
    pid_t child = 0;
    int ended = 0;
    int failed = posix_spawnp(&child, "dpkg-deb", NULL, NULL, arguments, environ);
    if (failed != 0) {
        return failed == ENOENT
                   ? graft_error_set(error, GRAFT_ERROR_USAGE, "--deb", "needs dpkg-deb, which is not installed")
                   : graft_fail_errno(error, GRAFT_ERROR_INTERNAL, "dpkg-deb", "cannot be started", failed);
    }
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_IO, output, "dpkg-deb did not make it: its message is above");
}

static int build(const struct graft_options *options, const char *package, const struct graft_plugin *descriptor,
                 const char *machine, const struct package_file *files, size_t n, struct graft_error *error) {
    char *root = NULL;
    char *output = options->output != NULL
                       ? graft_strdup(options->output)
                       : graft_format("%s_%s_%s.deb", package, descriptor->version, architecture(machine));
    int status =
        output != NULL ? graft_folder_make_temporary("/tmp", "deb", &root, error) : graft_fail_memory(error, package);
    if (status == GRAFT_OK && chmod(root, 0755) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, root, "chmod", errno);
    }
    if (status == GRAFT_OK) {
        status = write_tree(root, package, descriptor, machine, files, n, error);
    }
    if (status == GRAFT_OK) {
        status = run_dpkg(root, output, error);
    }
    if (root != NULL) {
        graft_folder_remove(root);
    }
    graft_free(output);
    graft_free(root);
    return status;
}

int deb_write(const struct graft_options *options, const struct graft_plugin *descriptor, const char *machine,
              const struct package_file *files, size_t n, struct graft_error *error) {
    if (getenv("DEBFULLNAME") == NULL || getenv("DEBEMAIL") == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--deb",
                               "expected the maintainer's name and address in DEBFULLNAME and DEBEMAIL");
    }
    if (architecture(machine) == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--deb", "Debian's name for this machine is not known here");
    }
    char *package = graft_format("graft-plugin-%s", descriptor->id);
    if (package == NULL) {
        return graft_fail_memory(error, "--deb");
    }
    for (char *at = package; *at != '\0'; at++) {
        *at = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
    }
    int status = build(options, package, descriptor, machine, files, n, error);
    graft_free(package);
    return status;
}
