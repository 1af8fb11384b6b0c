/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions the kernels may use. The best form that processor and operating system offer is taken; the
 * environment variable GRAFT_ISA=scalar|avx2|avx512 lowers the choice (for tests and bug reports; it never raises it).
 */
#ifndef GRAFT_KERNELS_CPU_H
#define GRAFT_KERNELS_CPU_H

enum {
    GRAFT_ISA_SCALAR = 0, /* plain C; the reference for the others */
    GRAFT_ISA_AVX2 = 1,   /* AVX2, FMA, F16C */
    GRAFT_ISA_AVX512 = 2  /* AVX-512 F, BW, VL, DQ on top */
};

/* [any] What this machine offers. */
int graft_cpu_best_isa(void);

/* [any] What the kernels use. */
int graft_cpu_isa(void);

/* [test] Sets what the kernels use; a request beyond graft_cpu_best_isa() is lowered to it. */
void graft_cpu_set_isa(int isa);

/* [any] Whether oneDNN multiplies bf16 with instructions made for it (AVX512-BF16 or AMX), not by emulation.
 * No in a build without oneDNN. */
int graft_cpu_has_bf16_products(void);

/* [test] Makes the above say yes where it would say no; oneDNN then emulates. Needs AVX-512 and
 * a build with oneDNN. */
void graft_cpu_pretend_bf16_products(int yes);

/* [any] "scalar", "avx2" or "avx512". */
const char *graft_cpu_isa_name(int isa);

#endif
