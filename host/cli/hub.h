/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directory of a model that the command line names: a directory, or a repository in the hub cache of
 * huggingface_hub. Nothing is downloaded. */
#ifndef GRAFT_CLI_HUB_H
#define GRAFT_CLI_HUB_H

#include "graft/error.h"

/* The directory that `name` means:
 *
 * - a directory, which wins over everything else of that name. One that is itself an entry of a cache
 *   (models--ORG--NAME) means its snapshot of the revision `main`;
 * - ORG/NAME or ORG/NAME@REVISION: a repository in the hub cache. A revision is a branch, a tag or a commit.
 *
 * The caller frees it with graft_free. GRAFT_ERROR_MODEL, with the places that were looked at, if there is none. */
int graft_hub_find(const char *name, char **directory, struct graft_error *error);

#endif
