/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CLI_PACKAGE_DEB_H
#define GRAFT_CLI_PACKAGE_DEB_H

#include "cli/package/package.h"
#include "graft/plugin.h"

/* Makes a Debian package for `machine` (manifest.h) of the files, by dpkg-deb: the plugin and its manifest in the
 * folder of the plugins that come with this program, its documents in /usr/share/doc. The maintainer is $DEBFULLNAME
 * <$DEBEMAIL>. */
int deb_write(const struct graft_options *options, const struct graft_plugin *descriptor, const char *machine,
              const struct package_file *files, size_t n, struct graft_error *error);

#endif
