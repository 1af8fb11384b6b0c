/* SPDX-License-Identifier: Apache-2.0 */
#define ID "offering_twin"
#include "../offering/plugin.c"
