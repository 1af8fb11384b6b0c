/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/machine.h"

#include <stdio.h>
#include <string.h>

#if defined __x86_64__
enum { OWN_MACHINE = EM_X86_64 };
#elif defined __i386__
enum { OWN_MACHINE = EM_386 };
#elif defined __aarch64__
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined __arm__
enum { OWN_MACHINE = EM_ARM };
#elif defined __riscv
enum { OWN_MACHINE = EM_RISCV };
#elif defined __powerpc64__
enum { OWN_MACHINE = EM_PPC64 };
#elif defined __s390x__
enum { OWN_MACHINE = EM_S390 };
#elif defined __loongarch__
enum { OWN_MACHINE = 258 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* offset of e_machine in 32 and 64-bit files */
enum { MACHINE_OFFSET = 18 };

static const struct {
    unsigned number; /* e_machine */
    const char *name;
} machines[] = {
    {EM_386, "x86"},       {EM_X86_64, "x86-64"},    {EM_ARM, "ARM"},           {EM_AARCH64, "AArch64"},
    {EM_RISCV, "RISC-V"},  {EM_PPC, "PowerPC"},      {EM_PPC64, "PowerPC64"},   {EM_S390, "S/390"},
    {258, "LoongArch"}, /* in newer elf.h: EM_LOONGARCH */
    {EM_MIPS, "MIPS"},     {EM_MIPS_RS3_LE, "MIPS"}, {EM_SPARC, "SPARC"},       {EM_SPARC32PLUS, "SPARC"},
    {EM_SPARCV9, "SPARC"}, {EM_ALPHA, "Alpha"},      {EM_IA_64, "Itanium"},     {EM_PARISC, "PA-RISC"},
    {EM_68K, "m68k"},      {EM_SH, "SuperH"},        {EM_XTENSA, "Xtensa"},     {EM_MICROBLAZE, "MicroBlaze"},
    {EM_QDSP6, "Hexagon"}, {EM_CSKY, "C-SKY"},       {EM_AMDGPU, "an AMD GPU"}, {EM_CUDA, "an NVIDIA GPU"},
    {EM_BPF, "BPF"},
};

/* Object formats of other systems, by the first bytes of their files. */
static const struct {
    const char *begin;
    size_t length;
    const char *name;
} systems[] = {
    {"MZ", 2, "Windows (PE)"},
    {"\xcf\xfa\xed\xfe", 4, "macOS (Mach-O)"},
    {"\xce\xfa\xed\xfe", 4, "macOS (Mach-O)"},
    {"\xca\xfe\xba\xbe", 4, "macOS (a universal Mach-O)"},
    {"\0asm", 4, "WebAssembly"},
};

struct target {
    int file_class; /* ELFCLASS32 or ELFCLASS64 */
    int order;      /* ELFDATA2LSB or ELFDATA2MSB */
    unsigned number;
};

static void describe(const struct target *target, char text[GRAFT_MACHINE_BYTES]) {
    const char *bits = target->file_class == ELFCLASS32 ? "32 bits" : "64 bits";
    const char *order = target->order == GRAFT_OWN_ORDER ? ""
                        : target->order == ELFDATA2LSB   ? ", little-endian"
                                                         : ", big-endian";
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        if (machines[i].number == target->number) {
            (void)snprintf(text, GRAFT_MACHINE_BYTES, "%s (%s%s)", machines[i].name, bits, order);
            return;
        }
    }
    (void)snprintf(text, GRAFT_MACHINE_BYTES, "processor number %u of ELF (%s%s)", target->number, bits, order);
}

int graft_machine_differs(const void *bytes, size_t size, char found[GRAFT_MACHINE_BYTES],
                          char own[GRAFT_MACHINE_BYTES]) {
    static const struct target here = {GRAFT_OWN_CLASS, GRAFT_OWN_ORDER, OWN_MACHINE};
    const unsigned char *head = bytes;
    describe(&here, own);
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        if (size > MACHINE_OFFSET && memcmp(head, systems[i].begin, systems[i].length) == 0) {
            (void)snprintf(found, GRAFT_MACHINE_BYTES, "%s", systems[i].name);
            return 1;
        }
    }
    if (OWN_MACHINE == EM_NONE || size < MACHINE_OFFSET + 2 || memcmp(head, ELFMAG, SELFMAG) != 0) {
        return 0;
    }
    struct target target = {head[EI_CLASS], head[EI_DATA], 0};
    if ((target.file_class != ELFCLASS32 && target.file_class != ELFCLASS64) ||
        (target.order != ELFDATA2LSB && target.order != ELFDATA2MSB)) {
        return 0; /* a damaged file: the dynamic linker reports how */
    }
    int low = target.order == ELFDATA2LSB ? 0 : 1;
    target.number = head[MACHINE_OFFSET + low] + 256U * head[MACHINE_OFFSET + 1 - low];
    describe(&target, found);
    return target.file_class != GRAFT_OWN_CLASS || target.order != GRAFT_OWN_ORDER || target.number != OWN_MACHINE;
}
