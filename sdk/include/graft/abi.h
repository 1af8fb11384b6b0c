/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of the binary interface between host and plugins, and the rules that all of its headers follow.
 *
 * Every struct that crosses the interface starts with `struct_size`, set by whoever fills it to the size it was
 * compiled with. A field may be read only if it ends inside that size (GRAFT_HAS). Within one major version fields are
 * only ever appended. Integers have fixed widths; there are no bit-fields, bools, longs or enum-typed fields. `n_x` is
 * the number of elements in the array `x`. Arrays of structs carry a stride, `x_stride`, the bytes from one element to
 * the next, so that a larger element of a newer version can be stepped over. An array without one is of structs that
 * begin with their size: all have the same, and that is the stride (graft_struct_at). Who copies a struct copies what
 * both sides know (graft_struct_copy). Members called `reserved` are 0, and refused otherwise.
 *
 * A pointer may be NULL only where its comment says so ("optional" does), or where it leads to an array of none. What a
 * function is given stays the caller's and is valid until the function returns, and what it returns a pointer to stays
 * its own, unless the comment says otherwise. Strings are UTF-8, end in a NUL, and have no control characters; paths of
 * files are as the system has them.
 *
 * What one side does not know is either ignored or refused, and the sender says which. In `flags` the lower 16 bits are
 * capabilities, ignored when unknown, the upper 16 requirements, refused when unknown. In args `required_features` are
 * bits of the interface; the vtable of a class lists those it knows in `features`, and a call with another is refused
 * before it reaches the class. The header of an interface lists them; without any, both are 0.
 *
 * Comments say when a function may be called: [load] while plugins are loaded and models opened, made or freed;
 * [forward] within a forward; [any] at any time. A model is used by one thread at a time, and so are its instances.
 * Several models may be used at once in several threads, so what a plugin keeps outside its instances is const or
 * guarded by locks.
 *
 * No C++ exception and no longjmp leaves a function that the other side has called: catch it and return a status
 * (error.h). The host computes in the default floating-point environment (round to nearest, no traps, subnormals kept),
 * and a plugin's functions leave it as it is. A forward that leaves another one is an error that names its module;
 * after all other functions, and constructors, the host restores its own. Nor does a plugin end the process: exit() in
 * any of its functions is an error, too.
 *
 * A host runs every plugin built with headers of its major version, those of a later minor included: these say in
 * `abi_minor_needed` what they cannot do without. docs/abi.md says what is promised, and what is not.
 */
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

/* Before the helpers of the headers. libgraft-sdk.a has each as a symbol, too, for languages that do not read headers:
 * its one source defines this as `extern inline`. */
#ifndef GRAFT_INLINE
#define GRAFT_INLINE static inline
#endif

/* Whether `field` may be read from the struct that `pointer` points to. */
#define GRAFT_HAS(pointer, type, field) ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

/* How many bytes of a struct reach to the end of `field`: GRAFT_X_SIZE_1_0, what struct graft_x had in version 1.0, is
 * given so. A reader insists on that much and asks GRAFT_HAS for every later field. */
#define GRAFT_END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* The bits of `flags` that must be known to whoever reads them. */
#define GRAFT_REQUIREMENTS 0xffff0000u

/* Static assertions that read the same from C99 on and from C++11 on. (C99 has none: there it is an array that may be
 * declared as often as one likes, but not with a size below 0.) */
#if defined(__cplusplus)
#define GRAFT_STATIC_ASSERT(condition, text) static_assert(condition, text)
#elif __STDC_VERSION__ >= 201112L
#define GRAFT_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define GRAFT_STATIC_ASSERT(condition, text) extern const char graft_assertion[(condition) ? 1 : -1]
#endif

/* Layouts are asserted where pointers have 8 bytes; the root descriptor carries the pointer size, so others are
 * refused. */
#define GRAFT_ASSERT_SIZE(type, bytes) \
    GRAFT_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(type) == (bytes), "size of " #type " is part of the ABI")
#define GRAFT_ASSERT_OFFSET(type, field, bytes)                                  \
    GRAFT_STATIC_ASSERT(sizeof(void *) != 8 || offsetof(type, field) == (bytes), \
                        "offset of " #type "." #field " is part of the ABI")

#ifdef __cplusplus
extern "C" {
#endif

/* [any] The requirements among `flags` that are not among those `known`; 0: all are. */
GRAFT_INLINE uint32_t graft_flags_unknown(uint32_t flags, uint32_t known) {
    return flags & GRAFT_REQUIREMENTS & ~known;
}

/* [any] Copies a struct that starts with its size: as much of it as both know, zeros behind that. The copy's size says
 * what was copied; an assignment would keep the other's size and so promise fields that the copy has no room for. */
GRAFT_INLINE void graft_struct_copy(void *to, size_t to_size, const void *from) {
    uint32_t size;
    memcpy(&size, from, sizeof size);
    size = size < to_size ? size : (uint32_t)to_size;
    memset(to, 0, to_size);
    memcpy(to, from, size);
    memcpy(to, &size, sizeof size);
}

/* [any] Element number `i` of an array without a stride of its own: of structs that begin with their size, which is the
 * same for all and so the bytes from one to the next. Never `&array[i]`: the other side's structs may be larger. */
GRAFT_INLINE const void *graft_struct_at(const void *array, size_t i) {
    uint32_t size;
    memcpy(&size, array, sizeof size);
    return (const char *)array + i * size;
}

#ifdef __cplusplus
}
#endif

#endif
