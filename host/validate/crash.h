/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a crash of a check's process: what was accessed, by which function of which module, and whether the plugin
 * is at fault. */
#ifndef GRAFT_VALIDATE_CRASH_H
#define GRAFT_VALIDATE_CRASH_H

#include <stddef.h>

#include "validate/validation.h"

/* From now on a crash of this process is recorded as the check's fault. */
void graft_crash_watch(struct graft_validation *validation);

/* Records this fault in the call that the thread runs, and ends the process. */
_Noreturn void graft_crash_found(const char *what);

/* Writes what this thread runs, such as "forward of model.layers.0.mlp (AcmeMLP)"; "" if nothing. */
void graft_crash_running(char *text, size_t size);

/* From now on blames this call of the plugin, "forward of model.layers.0.mlp (AcmeMLP)", even while a module of the
 * host runs inside it; NULL: none. The text must outlive the call. */
void graft_crash_on_behalf(const char *call);

/* Whether this thread runs code of a plugin. */
int graft_crash_in_plugin(void);

/* Makes the plugin's static variables read-only, or writable again. A write is then a fault, except by a language's
 * runtime or a sanitizer. Returns their size in bytes. */
size_t graft_crash_guard_statics(int guard);

#endif
