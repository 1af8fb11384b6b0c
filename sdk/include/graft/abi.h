/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of the binary interface between host and plugins, and the rules every struct in it follows.
 *
 * Every struct that crosses the interface starts with `struct_size`, set by whoever fills it to the size it was
 * compiled with. A field may be read only if it ends inside that size (GRAFT_HAS). Within one major version fields are
 * only ever appended. Integers have fixed widths; there are no bit-fields, bools, longs or enum-typed fields.
 * Arrays of structs carry the stride of their elements, so that a larger element of a newer version can be stepped
 * over.
 *
 * Comments say when a function may be called: [load] while plugins are loaded and models opened, made or freed;
 * [forward] within a forward; [any] at any time. A model is used by one thread at a time, and so are its instances.
 * Several models may be used at once in several threads, so what a plugin keeps outside its instances is const or
 * guarded by locks.
 *
 * The interface is 0.x: every minor version may still change it, so host and plugin need the same minor.
 */
#ifndef GRAFT_ABI_H
#define GRAFT_ABI_H

#include <stddef.h>
#include <stdint.h>

#define GRAFT_ABI_MAJOR 0
#define GRAFT_ABI_MINOR 1

/* The only attribute a plugin needs: everything else should be built with -fvisibility=hidden. */
#if defined(__GNUC__)
#define GRAFT_EXPORT __attribute__((visibility("default")))
#else
#define GRAFT_EXPORT
#endif

/* Whether `field` may be read from the struct that `pointer` points to. */
#define GRAFT_HAS(pointer, type, field) ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

/* Static assertions that read the same in C11 and C++17. */
#ifdef __cplusplus
#define GRAFT_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define GRAFT_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Layouts are asserted where pointers have 8 bytes; the root descriptor carries the pointer size, so others are
 * refused. */
#define GRAFT_ASSERT_SIZE(type, bytes) \
    GRAFT_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(type) == (bytes), "size of " #type " is part of the ABI")
#define GRAFT_ASSERT_OFFSET(type, field, bytes)                                  \
    GRAFT_STATIC_ASSERT(sizeof(void *) != 8 || offsetof(type, field) == (bytes), \
                        "offset of " #type "." #field " is part of the ABI")

#endif
