/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */

#include "plugin/libc_names.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;
static const char *library_name;

/* Finds the C library, whatever its name, by getppid, which no sanitizer replaces. */
static void find(void) {
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "getppid");
    if (address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        library_name = info.dli_fname;
        library = dlopen(library_name, RTLD_LAZY | RTLD_NOLOAD);
    }
}

int graft_libc_has(const char *name) {
    Dl_info info;
    (void)pthread_once(&once, find);
    void *address = library != NULL ? dlsym(library, name) : NULL;
    return address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL &&
           strcmp(info.dli_fname, library_name) == 0;
}
