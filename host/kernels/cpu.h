/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction sets that kernels use: the best one of processor and operating system. The environment variable
 * GRAFT_ISA=scalar|avx2|avx512|avx512_bf16 (on AArch64 scalar|neon) selects a lower one, for tests and bug reports, but
 * never a higher one. avx2_vnni and avx512_vnni, for which only loops of coded weights are built, count as avx2 and
 * avx512 here. GRAFT_ISA=amx_model emulates a processor with tiles in plain C, many times slower, on any processor with
 * AVX512-BF16. */
#ifndef GRAFT_KERNELS_CPU_H
#define GRAFT_KERNELS_CPU_H

enum {
    GRAFT_ISA_SCALAR = 0,      /* plain C; the reference for the others */
    GRAFT_ISA_AVX2 = 1,        /* AVX2, FMA, F16C */
    GRAFT_ISA_NEON = 1,        /* the best of AArch64, all of whose processors have it */
    GRAFT_ISA_AVX512 = 2,      /* AVX-512 F, BW, VL, DQ on top */
    GRAFT_ISA_AVX512_BF16 = 3, /* products of pairs of bf16 on top */
    GRAFT_ISA_AMX = 4          /* tiles of bf16 on top */
};

/* [any] The best instruction set of this machine. */
int graft_cpu_best_isa(void);

/* [any] The instruction set that the kernels use. */
int graft_cpu_isa(void);

/* [test] Sets the instruction set that the kernels use, at most graft_cpu_best_isa(). */
void graft_cpu_set_isa(int isa);

/* [test] Sets whether tiles are emulated in plain C (kernels/tile_model.h): graft_cpu_best_isa() is then AMX on every
 * processor with AVX512-BF16. */
void graft_cpu_model_tiles(int yes);

/* [any] */
int graft_cpu_models_tiles(void);

/* [any] The name of an instruction set in GRAFT_ISA; "amx" for AMX. */
const char *graft_cpu_isa_name(int isa);

#endif
