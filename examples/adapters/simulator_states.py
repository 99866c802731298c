"""
Random states with closed loops, for resets in Isaac Lab, MuJoCo and other simulators.

A state whose loops are open makes the solver of a simulator explode. `states` returns as many as
there are environments, in the simulator's order of joints.

Isaac Lab, in a reset event::

    q = torch.as_tensor(states(robot, len(env_ids), asset.joint_names), device=env.device)
    asset.write_joint_state_to_sim(q.float(), torch.zeros_like(q).float(), env_ids=env_ids)

MuJoCo::

    names = [model.joint(i).name for i in range(model.njnt)]  # hinges and slides
    data.qpos[model.jnt_qposadr] = states(robot, 1, names)[0]
"""

import numpy as np


def states(robot, count, joint_names, seed=0):
    """Return `count` joint positions with closed loops, shape (count, len(joint_names))."""
    q = robot.sample(count, seed=seed)
    unknown = set(joint_names) - set(robot.joint_names)
    if unknown:
        raise ValueError(f'joints that ik_node does not know: {sorted(unknown)}')
    return np.ascontiguousarray(q[:, [robot.joint_names.index(name) for name in joint_names]])
