/* SPDX-License-Identifier: Apache-2.0 */
#define ID "circle_back"
#define OFFERED "acme.back/1"
#define USED "acme.more/1"
#include "../circle_more/plugin.c"
