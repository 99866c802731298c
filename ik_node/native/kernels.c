/* The kernels of all levels in the library, and the choice among them. */
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

/* Entries as in library.py, TABLE. Their signatures do not matter for a table of addresses. */
#define ENTRIES(LEVEL_NAME)                                                                        \
    ENTRY(advance, LEVEL_NAME)                                                                     \
    ENTRY(advance_batch, LEVEL_NAME)                                                               \
    ENTRY(linearise, LEVEL_NAME)                                                                   \
    ENTRY(external_step, LEVEL_NAME)                                                               \
    ENTRY(link_poses, LEVEL_NAME)                                                                  \
    ENTRY(link_jacobian, LEVEL_NAME)                                                               \
    ENTRY(transmit, LEVEL_NAME)                                                                    \
    ENTRY(velocity, LEVEL_NAME)                                                                    \
    ENTRY(advance_path, LEVEL_NAME)                                                                \
    ENTRY(distances, LEVEL_NAME)                                                                   \
    ENTRY(find_solutions, LEVEL_NAME)                                                              \
    ENTRY(determinants, LEVEL_NAME)

typedef void (*entry_t)(void);

#define ENTRY(NAME, LEVEL_NAME) extern void ik_kernel_##NAME##_##LEVEL_NAME(void);
#define LEVEL(LEVEL_NAME) ENTRIES(LEVEL_NAME)
IK_LEVELS
#undef LEVEL
#undef ENTRY

#define ENTRY(NAME, LEVEL_NAME) ik_kernel_##NAME##_##LEVEL_NAME,
#define LEVEL(LEVEL_NAME) static const entry_t table_##LEVEL_NAME[] = {ENTRIES(LEVEL_NAME)};
IK_LEVELS
#undef LEVEL
#undef ENTRY

#if defined(__x86_64__)
static inline int has_x86_64_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static inline int has_x86_64_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
}

static inline int has_x86_64_v2(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#else
static inline int has_aarch64(void)
{
    return 1;
}
#endif

/* Return the entries for this processor; NULL if the library has none. */
EXPORTED const entry_t *ik_node_kernels(void)
{
#define LEVEL(LEVEL_NAME)                                                                          \
    if (has_##LEVEL_NAME())                                                                        \
        return table_##LEVEL_NAME;
    IK_LEVELS
#undef LEVEL
    return NULL;
}

/* Return the digest of the sources. */
EXPORTED const char *ik_node_digest(void)
{
    return IK_DIGEST;
}
