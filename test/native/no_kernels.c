/* Load a robot with a library that has no code for the processor: no_kernels ROBOT. */
#include <stdio.h>

#include "ik_node/ik_node.h"

/* Takes the place of the library's own table. */
const void *ik_node_kernels(void);
const void *ik_node_kernels(void)
{
    return NULL;
}

int main(int count, char **words)
{
    ik_node_robot *robot;
    printf("%d\n", count == 2 ? ik_node_load(words[1], &robot) : 1);
    return robot != NULL;
}
