/* SPDX-License-Identifier: Apache-2.0 */
/* Version of the binary interface between host and plugins, and the rules that all of its headers follow.
 *
 * Structs. Every struct that crosses the interface starts with `struct_size`, which whoever fills the struct sets to
 * the size it was compiled with. A field may be read only if it ends within that size (GRAFT_HAS). Within one major
 * version fields are only ever appended. Integers have fixed widths; there are no bit-fields, bools, longs or
 * enum-typed fields. Members called `reserved` must be 0, and are refused otherwise. To copy a struct, copy the fields
 * that both sides know (graft_struct_copy).
 *
 * Arrays. `n_x` is the number of elements in the array `x`. An array of structs has a stride, `x_stride`: the bytes
 * from one element to the next, so that larger elements of a newer version can be stepped over. An array of structs
 * that start with their size needs no stride field: all elements have the same size, and that is the stride
 * (graft_struct_at).
 *
 * Pointers. A pointer may be NULL only where its comment says so ("optional" does), or where it points to an empty
 * array. What is passed to a function belongs to the caller and is valid until the function returns. What a function
 * returns a pointer to belongs to the callee. Comments state exceptions. Strings are UTF-8, end with a NUL, and contain
 * no control characters; paths of files are as the system has them.
 *
 * Unknown bits. Something that the receiver does not know is either ignored or refused, and the sender decides which.
 * In `flags` the lower 16 bits are capabilities, ignored when unknown; the upper 16 are requirements, refused when
 * unknown. In args, `required_features` has bits of the interface: the vtable of a class lists the bits it knows in
 * `features`, and the host refuses a call with any other bit before it reaches the class. The interface's header lists
 * the bits; if it lists none, both members are 0.
 *
 * Threads. Comments say when a function may be called: [load] while plugins are loaded and models opened, created or
 * freed; [forward] during a forward; [any] at any time. A model is used by one thread at a time, and so are its
 * instances. Several models may be used at once on several threads, so whatever a plugin keeps outside its instances
 * must be const or guarded by locks.
 *
 * What a plugin must not do. No C++ exception and no longjmp may leave a function that the other side has called: catch
 * it and return a status (error.h). The host computes in the default floating-point environment (round to nearest, no
 * traps, subnormals kept), and a plugin's functions must leave it unchanged. A forward that changes it is an error that
 * names its module; after all other functions, and constructors, the host restores its own. A plugin must not end the
 * process: exit() in any of its functions is an error.
 *
 * Versions. A host runs every plugin built with headers of its major version, including later minor versions: such a
 * plugin states in `abi_minor_needed` the minor version it cannot do without. docs/abi.md says what is promised and
 * what is not. */
#ifndef GRAFT_ABI_H
#define GRAFT_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GRAFT_ABI_MAJOR 1
#define GRAFT_ABI_MINOR 0

/* The only attribute a plugin needs: everything else should be built with -fvisibility=hidden. */
#if defined(__GNUC__)
#define GRAFT_EXPORT __attribute__((visibility("default")))
#else
#define GRAFT_EXPORT
#endif

/* Precedes the helper functions of the headers. libgraft-sdk.a also has each helper as a symbol, for languages that
 * cannot include headers: its only source file defines this macro as `extern inline`. */
#ifndef GRAFT_INLINE
#define GRAFT_INLINE static inline
#endif

/* Whether `field` may be read from the struct that `pointer` points to. */
#define GRAFT_HAS(pointer, type, field) ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

/* How many bytes a struct has up to the end of `field`. GRAFT_X_SIZE_1_0, the size of struct graft_x in version 1.0, is
 * defined with it. A reader requires that size, and uses GRAFT_HAS for every later field. */
#define GRAFT_END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* The bits of `flags` that the receiver must know. */
#define GRAFT_REQUIREMENTS 0xffff0000u

/* Static assertions with one syntax for C99 and later and C++11 and later. (C99 has none: there it declares an array,
 * which may be repeated, and whose size is negative if the condition fails.) */
#if defined(__cplusplus)
#define GRAFT_STATIC_ASSERT(condition, text) static_assert(condition, text)
#elif __STDC_VERSION__ >= 201112L
#define GRAFT_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define GRAFT_STATIC_ASSERT(condition, text) extern const char graft_assertion[(condition) ? 1 : -1]
#endif

/* Layouts are asserted only where pointers have 8 bytes. The root descriptor carries the pointer size, so other plugins
 * are refused. */
#define GRAFT_ASSERT_SIZE(type, bytes) \
    GRAFT_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(type) == (bytes), "size of " #type " is part of the ABI")
#define GRAFT_ASSERT_OFFSET(type, field, bytes)                                  \
    GRAFT_STATIC_ASSERT(sizeof(void *) != 8 || offsetof(type, field) == (bytes), \
                        "offset of " #type "." #field " is part of the ABI")

#ifdef __cplusplus
extern "C" {
#endif

/* [any] The requirements among `flags` that are not in `known`; 0 if all are known. */
GRAFT_INLINE uint32_t graft_flags_unknown(uint32_t flags, uint32_t known) {
    return flags & GRAFT_REQUIREMENTS & ~known;
}

/* [any] Copies a struct that starts with its size: the fields that both sides know, followed by zeros. The copy's
 * `struct_size` is the number of bytes copied. (An assignment would copy the other side's size, and so claim fields
 * that the copy has no room for.) */
GRAFT_INLINE void graft_struct_copy(void *to, size_t to_size, const void *from) {
    uint32_t size;
    memcpy(&size, from, sizeof size);
    size = size < to_size ? size : (uint32_t)to_size;
    memset(to, 0, to_size);
    memcpy(to, from, size);
    memcpy(to, &size, sizeof size);
}

/* [any] Element `i` of an array of structs that start with their size, which is the same for all of them and is the
 * stride. Never use `&array[i]`: the other side's structs may be larger. */
GRAFT_INLINE const void *graft_struct_at(const void *array, size_t i) {
    uint32_t size;
    memcpy(&size, array, sizeof size);
    return (const char *)array + i * size;
}

#ifdef __cplusplus
}
#endif

#endif
