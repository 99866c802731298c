"""
Build a four-bar linkage from objects, without a description file, and turn its crank.

The coupler hangs on the crank, the rocker on the ground. A closure says that both meet in one
hinge.
"""

import ik_node as ik

ground, crank, coupler, rocker = (
    ik.Link(name) for name in ('ground', 'crank', 'coupler', 'rocker')
)


def hinge(name: str, parent: ik.Link, child: ik.Link, x: float) -> ik.Joint:
    """Connect two links by a hinge about z at (x, 0, 0) of the parent."""
    joint = ik.Joint(name)
    joint.set_dof('EZ')
    joint.set_position(x, 0.0, 0.0)
    parent.add_child(joint)
    joint.add_child(child)
    return joint


hinge('crank_joint', ground, crank, 0.0)
hinge('coupler_joint', crank, coupler, 0.4)
hinge('rocker_joint', ground, rocker, 1.0).set_dof_values(1.9)

tie = ik.Closure('tie', 'hinge')  # frame B, on the rocker
tie.set_position(0.9, 0.0, 0.0)
rocker.add_child(tie)
tie.set_offset((1.1, 0.0, 0.0))  # frame A, on the coupler
tie.make_closure(coupler)

solver = ik.Solver(ground)
solver.solve()  # closes the loop and writes the values to the joints
for angle in (0.5, 1.0, 1.5):
    solution = solver.drive({'crank_joint': angle})
    rocker_angle = dict(zip(solver.joint_names, solution.q, strict=True))['rocker_joint']
    print(f'crank {angle:.1f} rad, rocker {rocker_angle:.3f} rad: {solution.status.name}')
