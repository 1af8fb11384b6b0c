/* SPDX-License-Identifier: Apache-2.0 */
/* What a check's process was doing when it crashed, in words: what was touched, by which function of which module, and
 * whether that is the plugin's fault. */
#ifndef GRAFT_VALIDATE_CRASH_H
#define GRAFT_VALIDATE_CRASH_H

#include <stddef.h>

#include "validate/validation.h"

/* From now on a crash of this process becomes the fault that the check has found. */
void graft_crash_watch(struct graft_validation *validation);

/* Ends the process: the check has found this, in what the thread runs. */
_Noreturn void graft_crash_found(const char *what);

/* "forward of model.layers.0.mlp (AcmeMLP)": what this thread runs; "" where it runs nothing. */
void graft_crash_running(char *text, size_t size);

/* From now on what runs is done for this call of the plugin's, "forward of model.layers.0.mlp (AcmeMLP)", even where a
 * module of the host runs inside of it; NULL: for none. The text has to stay. */
void graft_crash_on_behalf(const char *call);

/* Whether what this thread runs is a plugin's. */
int graft_crash_in_plugin(void);

/* Makes the plugin's static variables read-only, or writable again. A write is the fault that the check has found,
 * except for writes by a language's runtime and by sanitizers. Returns their size in bytes. */
size_t graft_crash_guard_statics(int guard);

#endif
