"""
Solvers of other libraries that keep bodies apart, for `benchmark/collisions.py`.

Each takes steps of a quadratic program with the pairs as inequalities, and begins again at random
joint values where it ends in contact or off the goals. mink closes loops by a heavy task; pink and
placo are asked for robots without loops only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
import json
from pathlib import Path
import tempfile
from typing import Any
import xml.etree.ElementTree as ET

import ik_node as ik
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
Solve = Callable[[Mapping[str, Array], Array], Array | None]
# Steps of a start, starts, and the errors that end it [m or rad]; loops have weight LOOPS.
STEPS, STARTS, MET, LOOPS = 100, 10, 1e-4, 100.0
# Distance that is asked for, and distance at which pairs count [m].
GAP, NEAR = 1e-3, 0.05


def solver_of(name: str, robot: ik.Robot, goals: Mapping[str, str]) -> Solve:
    """Return a function of poses and a start that returns q, or None; raise ImportError."""
    for needed in {'mink': ('mink',), 'placo': ('placo',), 'pink': ('pink', 'pinocchio')}[name]:
        import_module(needed)
    return {'mink': by_mink, 'placo': by_placo, 'pink': by_pink}[name](robot, goals)


def attempts(
    robot: ik.Robot, start: Array, run: Callable[[Array], bool], answer: Callable[[], Array]
) -> Array | None:
    """Run from a start, then from random joint values; return the first answer that is free."""
    rng = np.random.default_rng(0)
    low, high = np.maximum(robot.lower, robot.q - 3.0), np.minimum(robot.upper, robot.q + 3.0)
    for attempt in range(STARTS):
        if run(start if attempt == 0 else rng.uniform(low, high)):
            q = answer()
            if not robot.collisions.contacts(q):
                return q
    return None


def plain_urdf(robot: ik.Robot, bodies: bool = False) -> str:
    """Return the tree of a robot with masses; with `bodies`, obstacles are links of their own."""
    tree = ET.fromstring(robot.to_urdf())
    for link in tree.findall('link'):
        for each in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(each)
        if link.find('inertial') is None:
            inertia = 'ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"'
            link.append(
                ET.fromstring(f'<inertial><mass value="0.1"/><inertia {inertia}/></inertial>')
            )
    root = robot.links[next(iter(robot.links))].name
    links = {link.get('name'): link for link in tree.findall('link')}
    for body in robot.collisions.bodies if bodies else ():
        if body.link is None:
            links[body.name] = ET.SubElement(tree, 'link', name=body.name)
            tree.append(
                ET.fromstring(
                    f'<joint name="{body.name}_fixed" type="fixed"><parent link="{root}"/>'
                    f'<child link="{body.name}"/></joint>'
                )
            )
        for kind, sizes, pose in simple_parts(body):
            turn = ' '.join(map(str, Rotation.from_matrix(pose[:3, :3]).as_euler('xyz')))
            place = ' '.join(map(str, pose[:3, 3]))
            links[body.name].append(
                ET.fromstring(
                    f'<collision><origin xyz="{place}" rpy="{turn}"/><geometry><{kind} '
                    + ' '.join(f'{key}="{value}"' for key, value in sizes.items())
                    + '/></geometry></collision>'
                )
            )
    for other in [each for each in tree if each.tag not in ('link', 'joint')]:
        tree.remove(other)
    return ET.tostring(tree, encoding='unicode')


def simple_parts(body: Any) -> list[tuple[str, dict[str, str], Array]]:
    """Return a body as shapes of URDF: a capsule is a cylinder and two balls."""
    shape = body.shape
    if isinstance(shape, ik.Box):
        return [('box', {'size': ' '.join(map(str, shape.size))}, body.pose)]
    if isinstance(shape, ik.Sphere):
        return [('sphere', {'radius': str(shape.radius)}, body.pose)]
    found = [('cylinder', {'radius': str(shape.radius), 'length': str(shape.length)}, body.pose)]
    for side in (-0.5, 0.5) if isinstance(shape, ik.Capsule) else ():
        end = np.eye(4)
        end[2, 3] = side * shape.length
        found.append(('sphere', {'radius': str(shape.radius)}, body.pose @ end))
    return found


def by_mink(robot: ik.Robot, goals: Mapping[str, str]) -> Solve:
    """Return a solver of mink, with loops as equality constraints."""
    import mink
    import mujoco

    spec = mujoco.MjSpec.from_string(plain_urdf(robot))
    spec.compiler.fusestatic, spec.compiler.discardvisual = False, False
    kinds = {
        ik.Box: mujoco.mjtGeom.mjGEOM_BOX,
        ik.Sphere: mujoco.mjtGeom.mjGEOM_SPHERE,
        ik.Capsule: mujoco.mjtGeom.mjGEOM_CAPSULE,
        ik.Cylinder: mujoco.mjtGeom.mjGEOM_CYLINDER,
    }

    def carrier(link: str | None) -> Any:
        found = None if link is None else spec.body(link)
        return spec.worldbody if found is None else found

    def place(pose: Array) -> dict[str, Any]:
        x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
        return {'pos': pose[:3, 3], 'quat': [w, x, y, z]}

    names: list[str] = []
    for index, body in enumerate(robot.collisions.bodies):
        shape = body.shape
        size = [0.5 * edge for edge in shape.size] if isinstance(shape, ik.Box) else [shape.radius]
        size += [0.5 * shape.length] if hasattr(shape, 'length') else []
        link = None if body.link is None else body.name
        names.append(f'body{index}')
        sizes = [*size, 0.0, 0.0][:3]
        where = place(body.pose)
        carrier(link).add_geom(name=names[-1], type=kinds[type(shape)], size=sizes, **where)
    for closure in robot.closures.values():
        ends = ((closure.parent, closure.matrix, 'a'), (closure.child, closure.offset_matrix, 'b'))
        for link, pose, side in ends:
            carrier(link.name).add_site(name=f'{closure.name}_{side}', **place(pose))
        turns = 'EX' in str(closure)
        kind = mujoco.mjtEq.mjEQ_WELD if turns else mujoco.mjtEq.mjEQ_CONNECT
        spec.add_equality(
            type=kind,
            name=closure.name,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=f'{closure.name}_a',
            name2=f'{closure.name}_b',
        )
    model = spec.compile()
    configuration = mink.Configuration(model)
    places = np.array([model.joint(name).qposadr[0] for name in robot.joint_names])
    tasks = {
        goal: mink.FrameTask(link, 'body', 1.0, 0.0 if goal != link else 1.0, lm_damping=1e-6)
        for goal, link in goals.items()
    }
    loops = [mink.EqualityConstraintTask(model, cost=LOOPS)] if len(robot.closures) else []
    pairs = [([names[a]], [names[b]]) for a, b in robot.collisions.flat().pairs.tolist()]
    limits = [
        mink.ConfigurationLimit(model),
        mink.CollisionAvoidanceLimit(
            model, pairs, minimum_distance_from_collisions=GAP, collision_detection_distance=NEAR
        ),
    ]

    def met() -> bool:
        errors = [
            task.compute_error(configuration)[: 6 if task.cost[3] else 3]
            for task in tasks.values()
        ]
        errors += [1e2 * loop.compute_error(configuration) for loop in loops]
        return all(np.abs(error).max() <= MET for error in errors)

    def run(begin: Array) -> bool:
        q = np.zeros(model.nq)
        q[places] = begin
        configuration.update(q)
        for _ in range(STEPS):
            if met():
                return True
            try:
                speed = mink.solve_ik(
                    configuration, [*tasks.values(), *loops], 1.0, 'daqp', limits=limits
                )
            except mink.NoSolutionFound:
                return False
            configuration.integrate_inplace(speed, 1.0)
        return met()

    def solve(poses: Mapping[str, Array], start: Array) -> Array | None:
        for goal, task in tasks.items():
            task.set_target(mink.SE3.from_matrix(poses[goal]))
        return attempts(robot, start, run, lambda: configuration.q[places].copy())

    return solve


def by_pink(robot: ik.Robot, goals: Mapping[str, str]) -> Solve:
    """Return a solver of pink, with the barrier of the twenty nearest pairs."""
    import pink
    from pink.barriers import SelfCollisionBarrier
    import pinocchio as pin

    text = plain_urdf(robot, bodies=True)
    model = pin.buildModelFromXML(text)
    shapes = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION)
    add_pairs(pin, shapes, robot)
    data, seen = model.createData(), pin.GeometryData(shapes)
    tasks = {
        goal: pink.tasks.FrameTask(link, 1.0, 1.0, lm_damping=1e-6) for goal, link in goals.items()
    }
    count = min(20, len(shapes.collisionPairs))
    barrier = SelfCollisionBarrier(count, gain=1.0, safe_displacement_gain=0.0, d_min=GAP)
    places = [model.joints[model.getJointId(name)].idx_q for name in robot.joint_names]
    now: list[Any] = [None]

    def run(begin: Array) -> bool:
        q = pin.neutral(model)
        q[places] = begin
        now[0] = here = pink.Configuration(
            model, data, q, collision_model=shapes, collision_data=seen
        )
        for _ in range(STEPS):
            errors = [np.abs(task.compute_error(here)).max() for task in tasks.values()]
            if max(errors) <= MET:
                return True
            try:
                speed = pink.solve_ik(
                    here,
                    tasks.values(),
                    0.5,
                    solver='daqp',
                    barriers=[barrier],
                    safety_break=False,
                )
            except (pink.exceptions.PinkError, ValueError):
                return False
            here.integrate_inplace(speed, 0.5)
        return False

    def solve(poses: Mapping[str, Array], start: Array) -> Array | None:
        for goal, task in tasks.items():
            task.set_target(pin.SE3(poses[goal]))
        return attempts(robot, start, run, lambda: np.array(now[0].q)[places])

    return solve


def add_pairs(pin: Any, shapes: Any, robot: ik.Robot) -> None:
    """Add the pairs that count to a geometry model whose objects are called LINK_NUMBER."""
    owners = [each.name.rpartition('_')[0] for each in shapes.geometryObjects]
    wanted = {frozenset(pair) for pair in robot.collisions.pairs}
    for a, one in enumerate(owners):
        for b in range(a):
            if frozenset((one, owners[b])) in wanted:
                shapes.addCollisionPair(pin.CollisionPair(b, a))


def by_placo(robot: ik.Robot, goals: Mapping[str, str]) -> Solve:
    """Return a solver of placo, with its constraint against self-collisions."""
    import placo

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'robot.urdf'
        path.write_text(plain_urdf(robot, bodies=True))
        (Path(folder) / 'collisions.json').write_text(json.dumps(robot.collisions.pairs))
        model = placo.RobotWrapper(folder)
    solver = placo.KinematicsSolver(model)
    solver.mask_fbase(True)
    solver.enable_joint_limits(True)
    solver.enable_velocity_limits(False)
    solver.add_regularization_task(1e-4)
    apart = solver.add_avoid_self_collisions_constraint()
    apart.self_collisions_margin, apart.self_collisions_trigger = GAP, NEAR
    tasks = {}
    for goal, link in goals.items():
        tasks[goal] = solver.add_frame_task(link, np.eye(4))
        tasks[goal].configure(link, 'soft', 1.0, 1.0)
    places = np.array([model.get_joint_offset(name) for name in robot.joint_names])

    def error(poses: Mapping[str, Array]) -> float:
        gaps = [poses[goal] - model.get_T_world_frame(link) for goal, link in goals.items()]
        return float(np.abs(gaps).max())

    def solve(poses: Mapping[str, Array], start: Array) -> Array | None:
        for goal, task in tasks.items():
            task.T_world_frame = poses[goal]

        def run(begin: Array) -> bool:
            q = model.state.q.copy()
            q[places] = begin
            model.state.q = q
            model.update_kinematics()
            for _ in range(STEPS):
                if error(poses) <= MET:
                    return True
                try:
                    solver.solve(True)
                except RuntimeError:
                    return False
                model.update_kinematics()
            return error(poses) <= MET

        return attempts(robot, start, run, lambda: np.array(model.state.q)[places])

    return solve
