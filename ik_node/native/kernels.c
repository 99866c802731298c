/* The kernels of all levels in the library, and the choice among them. */
#include "layout.h"

#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

/* The signatures of entries do not matter for a table of addresses. */
#define ENTRY(NAME, LEVEL_NAME) extern void ik_kernel_##NAME##_##LEVEL_NAME(void);
#define LEVEL(LEVEL_NAME, SUPPORTED) IK_ENTRIES(LEVEL_NAME)
IK_LEVELS
#undef LEVEL
#undef ENTRY

#define ENTRY(NAME, LEVEL_NAME) ik_kernel_##NAME##_##LEVEL_NAME,
#define LEVEL(LEVEL_NAME, SUPPORTED)                                                               \
    static const entry_t table_##LEVEL_NAME[] = {IK_ENTRIES(LEVEL_NAME)};
IK_LEVELS
#undef LEVEL
#undef ENTRY

/* Return the entries for this processor; NULL if the library has none. */
EXPORTED const entry_t *ik_node_kernels(void)
{
#define LEVEL(LEVEL_NAME, SUPPORTED)                                                               \
    if (SUPPORTED)                                                                                 \
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
