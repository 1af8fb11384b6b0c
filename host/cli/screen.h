/* SPDX-License-Identifier: Apache-2.0 */
/* Shows progress on one line of the terminal, which is overwritten and finally cleared. It is shown only if stderr is a
 * terminal, without --quiet, and only for activities that take longer than a second. */
#ifndef GRAFT_CLI_SCREEN_H
#define GRAFT_CLI_SCREEN_H

#include <stdint.h>

#include "cli/options.h"

/* Call it once. Of several processes that run one model, only rank 0 shows progress. */
void graft_screen_open(const struct graft_options *options);
void graft_screen_close(void);

/* Like graft_screen_open, for code that needs a process of one thread: graft_screen_tick draws. */
void graft_screen_open_threadless(const struct graft_options *options);

/* Begins the activity `what`, such as "loading"; a static text. `counted` says which progress of the library belongs to
 * it, GRAFT_PROGRESS_... of graft/host/process.h; 0: none. */
void graft_screen_begin(const char *what, int32_t counted);

/* Sets the progress: `done` of `total` units, such as "tokens", a static text. A total of 0 is unknown. */
void graft_screen_count(int64_t done, int64_t total, const char *unit);

/* Renames the current activity for its next part; a static text. */
void graft_screen_name(const char *what);

/* Draws the line if it is due. Call it several times a second if there is no drawing thread. */
void graft_screen_tick(void);

/* Ends the activity. Call it before anything else is written to the terminal. */
void graft_screen_end(void);

/* Clears the line until it is drawn again, so that another line can be written. */
void graft_screen_clear(void);

#endif
