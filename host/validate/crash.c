/* SPDX-License-Identifier: Apache-2.0 */
/* Explains crashes. Most of this runs in a signal handler, so it takes no locks and allocates nothing. */
#define _GNU_SOURCE /* ucontext, sigaltstack, strsignal */

#include "validate/crash.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/crash_context.h"
#include "base/mapped_file.h"
#include "validate/object.h"
#include "validate/region.h"

enum { STACK = 64 * 1024, WHAT = 700, NULL_PAGE = 4096 };

static struct graft_validation *watched;
static pid_t watching;       /* the process that is watched; its forks are not */
static atomic_int has_found; /* set by the first thread that crashes; others then wait */
static int guards_statics;
static const char *on_behalf; /* the plugin's call that everything is done for; or NULL */

/* What the processor reports about a faulting access. */
struct access {
    const char *address; /* NULL also if the address is not canonical */
    const void *code;    /* address of the instruction; NULL: unknown on this machine */
    const char *stack;   /* the stack pointer; NULL: unknown */
    const char *verb;    /* "Read", "Wrote", or "Touched" if the machine does not say */
    int is_write;        /* 1 also if that is unknown */
    int is_no_address;
};

void graft_crash_running(char *text, size_t size) {
    const struct graft_crash_context *now = graft_crash_context();
    const struct graft_module *module = now->module;
    const struct graft_plugin_call *task = now->task;
    text[0] = '\0';
    if (module != NULL) {
        (void)snprintf(text, size, "forward of %.120s (%.64s)", module->path[0] != '\0' ? module->path : "the model",
                       module->class_name);
    } else if (task != NULL) {
        const int of_module = task->path != NULL && task->class_name != NULL;
        (void)snprintf(text, size, "%.32s%s%.120s%s%.64s%s", task->what, task->path != NULL ? " of " : "",
                       task->path == NULL      ? ""
                       : task->path[0] != '\0' ? task->path
                                               : "the model",
                       of_module ? " (" : "", of_module ? task->class_name : "", of_module ? ")" : "");
    }
}

void graft_crash_on_behalf(const char *call) {
    on_behalf = call;
}

int graft_crash_in_plugin(void) {
    const struct graft_crash_context *now = graft_crash_context();
    return now->module != NULL ? now->module->plugin != NULL
                               : now->task != NULL && (now->task->plugin != NULL || now->task->file != NULL);
}

/* Stores the verdict for the waiting process, and exits. Only the first verdict counts. */
static _Noreturn void end_with(const char *what) {
    struct graft_validation_notes *notes = watched->notes;
    int nobody = 0;
    if (atomic_compare_exchange_strong(&has_found, &nobody, 1)) {
        char running[256];
        graft_crash_running(running, sizeof running);
        notes->outcome = GRAFT_CHECK_FAILED;
        const int is_inside = on_behalf != NULL && strcmp(on_behalf, running) != 0;
        (void)snprintf(notes->text, sizeof notes->text, "%s%s%s%s%s", what, running[0] != '\0' ? " in " : "", running,
                       is_inside ? ", called by " : "", is_inside ? on_behalf : "");
        notes->is_done = 1;
        _exit(0);
    }
    for (;;) {
        (void)pause();
    }
}

void graft_crash_found(const char *what) {
    end_with(what);
}

static struct access read_access(const siginfo_t *info, const ucontext_t *context) {
    struct access access = {
        .address = info->si_addr, .verb = "Touched", .is_write = 1, .is_no_address = info->si_code == SI_KERNEL};
#if defined(__x86_64__)
    enum { IS_WRITE = 2 };
    access.code = (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    access.stack = (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    access.is_write = (context->uc_mcontext.gregs[REG_ERR] & IS_WRITE) != 0;
    access.verb = access.is_write ? "Wrote" : "Read";
#elif defined(__aarch64__)
    access.code = (const void *)(uintptr_t)context->uc_mcontext.pc;
    access.stack = (const void *)(uintptr_t)context->uc_mcontext.sp;
#else
    (void)context;
#endif
    return access;
}

/* "hidden_states [7, 64]", "its instance of 64 bytes" */
static void name_region(const struct graft_region *region, char *text, size_t size) {
    const struct graft_module *module = graft_crash_context()->module;
    if (region->kind == GRAFT_REGION_SCRATCH) {
        char running[256];
        graft_crash_running(running, sizeof running);
        const int is_own = strcmp(running, region->owner) == 0 || region->state == GRAFT_REGION_ENDED;
        (void)snprintf(text, size, "scratch of %zu bytes%s%s", region->bytes, is_own ? "" : " of ",
                       is_own ? "" : region->owner);
    } else if (region->kind == GRAFT_REGION_BLOCK && module != NULL && module->instance == region->data) {
        (void)snprintf(text, size, "its instance of %zu bytes", region->bytes);
    } else if (region->kind == GRAFT_REGION_BLOCK) {
        (void)snprintf(text, size, "a block of %zu bytes that %s took of host->alloc", region->bytes, region->owner);
    } else if (region->kind == GRAFT_REGION_STRUCT) {
        (void)snprintf(text, size, "the %s", region->name);
    } else {
        (void)snprintf(text, size, "%s", region->name);
    }
}

/* The distance of an address from the region, to the far end of the element that it belongs to. */
static size_t distance(const struct graft_region *region, const char *at, int *is_past_end) {
    const size_t element = (size_t)region->element;
    *is_past_end = at >= region->data + region->bytes;
    const size_t bytes = *is_past_end ? (size_t)(at - (region->data + region->bytes)) : (size_t)(region->data - at) - 1;
    return (bytes / element + 1) * element;
}

/* Describes an access to a watched region. */
static void describe_region(const struct graft_region *region, const struct access *access, char *text, size_t size) {
    char name[400];
    name_region(region, name, sizeof name);
    const int is_inside = access->address >= region->data && access->address < region->data + region->bytes;
    if (region->state == GRAFT_REGION_ENDED && region->owner[0] != '\0' && region->kind != GRAFT_REGION_BLOCK) {
        (void)snprintf(text, size, "%s %s of %s, which had returned,", access->verb, name, region->owner);
    } else if (region->state >= GRAFT_REGION_ENDED) {
        (void)snprintf(text, size, "%s %s, which was freed,", access->verb, name);
    } else if (is_inside) {
        (void)snprintf(text, size, "%s to %s, which may only be read,", access->verb, name);
    } else {
        int is_past_end;
        const size_t bytes = distance(region, access->address, &is_past_end);
        (void)snprintf(text, size, "%s %zu %s %s %s", access->verb, bytes, bytes == 1 ? "byte" : "bytes",
                       is_past_end ? "past the end of" : "before the start of", name);
    }
}

/* Finds the name of a symbol of the plugin's object at an address. */
static int name_in_object(const void *address, enum graft_object_part wanted, char name[GRAFT_OBJECT_NAME]) {
    uint64_t at = 0;
    if (graft_object_part_of(watched->file, address, &at) != wanted) {
        return 0;
    }
    (void)graft_object_name(watched->file, at, name);
    return 1;
}

/* Names the place of the code: the plugin's function, or the file. */
static void describe_place(const struct access *access, char *text, size_t size) {
    char name[GRAFT_OBJECT_NAME], file[300];
    text[0] = '\0';
    if (name_in_object(access->code, GRAFT_OBJECT_CODE, name)) {
        (void)snprintf(text, size, ", in its function %s,", name);
    } else if (access->code != NULL && graft_mapped_file(access->code, file, sizeof file)) {
        const char *slash = strrchr(file, '/');
        (void)snprintf(text, size, ", inside of %.80s,", slash != NULL ? slash + 1 : file);
    }
}

static void describe_address(const struct access *access, char *text, size_t size) {
    char name[GRAFT_OBJECT_NAME], place[GRAFT_OBJECT_NAME + 32];
    const struct graft_region *region = graft_region_around(access->address);
    if (region != NULL && region->kind != GRAFT_REGION_OWN) {
        describe_region(region, access, text, size);
        return;
    }
    if (access->is_write && name_in_object(access->address, GRAFT_OBJECT_VARIABLE, name)) {
        (void)snprintf(text, size, "Wrote to the static variable %s", name);
        return;
    }
    describe_place(access, place, sizeof place);
    if (access->is_write && name_in_object(access->address, GRAFT_OBJECT_CONSTANT, name)) {
        (void)snprintf(text, size, "Wrote to %s, which is const%s", name, place);
    } else if (access->stack != NULL && access->address < access->stack + STACK &&
               access->address > access->stack - STACK) {
        (void)snprintf(text, size, "Ran out of stack%s", place);
    } else if (access->is_no_address) {
        (void)snprintf(text, size, "Used an address that no memory can have%s", place);
    } else if ((uintptr_t)access->address < NULL_PAGE) {
        (void)snprintf(text, size, "%s through a null pointer%s", access->verb, place);
    } else {
        (void)snprintf(text, size, "%s address %p, where nothing is%s", access->verb, (const void *)access->address,
                       place);
    }
}

/* Language runtimes and sanitizers may write to static variables, which have their own names, not the plugin's. */
static int may_write(const struct access *access) {
    static const char *const runtimes[] = {"std::", "core::", "alloc::", "std_detect::", "__"};
    char file[300], name[GRAFT_OBJECT_NAME];
    int may =
        access->code != NULL && graft_mapped_file(access->code, file, sizeof file) && strstr(file, "san.so") != NULL;
    if (!name_in_object(access->address, GRAFT_OBJECT_VARIABLE, name)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++) {
        may |= strncmp(name, runtimes[i], strlen(runtimes[i])) == 0;
    }
    return may;
}

/* Whether the crash is in the host's own code, with nothing that points to the plugin. */
static int is_hosts(const struct access *access) {
    uint64_t at = 0;
    return !graft_crash_in_plugin() && on_behalf == NULL && graft_region_around(access->address) == NULL &&
           graft_object_part_of(watched->file, access->code, &at) == GRAFT_OBJECT_NONE;
}

#if defined(__x86_64__)
enum { TRAP_FLAG = 0x100 };
static _Thread_local const char *let_address; /* address whose page is writable for one instruction */

/* Makes the page writable for one instruction; the trap flag then stops the processor. */
static void let_once(const char *address, ucontext_t *context) {
    let_address = address;
    graft_object_let(address, 1);
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_trap(int number, siginfo_t *info, void *data) {
    ucontext_t *context = data;
    (void)number, (void)info;
    if (let_address != NULL) {
        graft_object_let(let_address, !guards_statics);
        let_address = NULL;
        context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
}
#else
/* Other machines have no trap flag here: the page stays writable, and later writes to it go unnoticed. */
static void let_once(const char *address, ucontext_t *context) {
    (void)context;
    graft_object_let(address, 1);
}
#endif

static void describe_signal(int number, const struct access *access, int hosts, char *text, size_t size) {
    char place[GRAFT_OBJECT_NAME + 32];
    const char *name = number == SIGABRT  ? "Aborted"
                       : number == SIGFPE ? "Arithmetic exception"
                       : number == SIGILL ? "Illegal instruction"
                       : number == SIGBUS ? "Bus error"
                                          : "Segmentation fault";
    describe_place(access, place, sizeof place);
    (void)snprintf(text, size, "the %s was killed by signal %d (%s)%s", hosts ? "host, not the plugin," : "plugin",
                   number, name, number == SIGABRT ? "" : place);
}

static void on_signal(int number, siginfo_t *info, void *data) {
    const struct access access = read_access(info, data);
    const int hosts = is_hosts(&access);
    char what[WHAT] = "";
    size_t length = 0;
    if ((number != SIGSEGV && number != SIGBUS) || info->si_code <= 0) {
        describe_signal(number, &access, hosts, what, sizeof what);
    } else if (guards_statics && access.is_write && may_write(&access)) {
        let_once(access.address, data);
        return;
    } else {
        length = hosts ? (size_t)snprintf(what, sizeof what, "the host crashed, not the plugin: ") : 0;
        describe_address(&access, what + length, sizeof what - length);
    }
    end_with(what);
}

size_t graft_crash_guard_statics(int guard) {
    guards_statics = guard;
    return graft_object_protect(watched->file, guard);
}

/* Runs if the plugin calls exit(), which a check itself never does. */
static void on_exit_unexpected(void) {
    if (getpid() == watching) {
        end_with("exit() was called");
    }
}

void graft_crash_watch(struct graft_validation *validation) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[STACK]; /* for the signal handler: the thread's own stack may have overflowed */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&action.sa_mask);
    watched = validation;
    watching = getpid();
    (void)atexit(on_exit_unexpected);
    (void)sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
#if defined(__x86_64__)
    action.sa_sigaction = on_trap;
    (void)sigaction(SIGTRAP, &action, NULL);
#endif
}
