"""
Inverse kinematics for robots with closed loops.

Each public name is imported on first use, so that `import ik_node` is fast and needs neither Numba
nor ROS 2.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from ik_node.analysis.mobility import Mobility
    from ik_node.analysis.reach.base_placement import BasePlacement
    from ik_node.analysis.reach.volume import ReachVolume
    from ik_node.cli.check import check
    from ik_node.conversions import robot_to_ik_root, set_ik_from_urdf, set_urdf_from_ik
    from ik_node.errors import (
        DescriptionError,
        EngineError,
        IkError,
        OptionError,
        PlanError,
        ShapeError,
        TopologyError,
        UnknownFrameError,
        UnsupportedElementError,
    )
    from ik_node.model.bodies import Box, Capsule, Cylinder, HalfSpace, Hull, Mesh, Sphere
    from ik_node.model.closure import Closure
    from ik_node.model.collisions import Collisions, Distance
    from ik_node.model.dof import DOF, DOF_NAMES
    from ik_node.model.frame import find_roots, Frame
    from ik_node.model.goal import Goal
    from ik_node.model.joint import Joint, save_rest_pose
    from ik_node.model.link import Link
    from ik_node.model.user_goal import UserGoal
    from ik_node.robot import combine, from_dh, load_robot, Robot
    from ik_node.scene.plot import plot
    from ik_node.solver.background.async_solver import AsyncSolver
    from ik_node.solver.batch.batch_solution import BatchSolution, PoseErrors
    from ik_node.solver.batch.path_solution import PathSolution
    from ik_node.solver.options import SolverOptions, tracking
    from ik_node.solver.result import PoseError, Solution, SolveResult
    from ik_node.solver.solver import Solver
    from ik_node.solver.status import Status, STATUS_NAMES
    from ik_node.solver.velocity import TwistError, VelocitySolution
    from ik_node.viewer.view import view

__version__ = '0.2.0'

_WHERE = {
    'cli.check': ('check',),
    'conversions': ('robot_to_ik_root', 'set_ik_from_urdf', 'set_urdf_from_ik'),
    'errors': (
        'DescriptionError',
        'EngineError',
        'IkError',
        'OptionError',
        'PlanError',
        'ShapeError',
        'TopologyError',
        'UnknownFrameError',
        'UnsupportedElementError',
    ),
    'model.bodies': ('Box', 'Capsule', 'Cylinder', 'HalfSpace', 'Hull', 'Mesh', 'Sphere'),
    'model.closure': ('Closure',),
    'model.collisions': ('Collisions', 'Distance'),
    'model.dof': ('DOF', 'DOF_NAMES'),
    'model.frame': ('Frame', 'find_roots'),
    'model.goal': ('Goal',),
    'model.joint': ('Joint', 'save_rest_pose'),
    'model.link': ('Link',),
    'analysis.reach.base_placement': ('BasePlacement',),
    'analysis.reach.volume': ('ReachVolume',),
    'model.user_goal': ('UserGoal',),
    'robot': ('Robot', 'combine', 'from_dh', 'load_robot'),
    'scene.plot': ('plot',),
    'solver.background.async_solver': ('AsyncSolver',),
    'solver.batch.batch_solution': ('BatchSolution', 'PoseErrors'),
    'analysis.mobility': ('Mobility',),
    'solver.options': ('SolverOptions', 'tracking'),
    'solver.batch.path_solution': ('PathSolution',),
    'solver.result': ('PoseError', 'Solution', 'SolveResult'),
    'solver.solver': ('Solver',),
    'solver.status': ('STATUS_NAMES', 'Status'),
    'solver.velocity': ('TwistError', 'VelocitySolution'),
    'viewer.view': ('view',),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}
# Packages with further public names, and the modules that reading their names imports.
_PACKAGES = {'scene': 'scene', 'kernels': 'kernels.layout'}

__all__ = [
    'DOF',
    'DOF_NAMES',
    'STATUS_NAMES',
    'AsyncSolver',
    'BasePlacement',
    'BatchSolution',
    'Box',
    'Capsule',
    'Closure',
    'Collisions',
    'Cylinder',
    'DescriptionError',
    'Distance',
    'EngineError',
    'Frame',
    'Goal',
    'HalfSpace',
    'Hull',
    'IkError',
    'Joint',
    'Link',
    'Mesh',
    'Mobility',
    'OptionError',
    'PathSolution',
    'PlanError',
    'PoseError',
    'PoseErrors',
    'ReachVolume',
    'Robot',
    'ShapeError',
    'Solution',
    'SolveResult',
    'Solver',
    'SolverOptions',
    'Sphere',
    'Status',
    'TopologyError',
    'TwistError',
    'UnknownFrameError',
    'UnsupportedElementError',
    'UserGoal',
    'VelocitySolution',
    'check',
    'combine',
    'find_roots',
    'from_dh',
    'load_robot',
    'plot',
    'robot_to_ik_root',
    'save_rest_pose',
    'set_ik_from_urdf',
    'set_urdf_from_ik',
    'tracking',
    'view',
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        import_module(f'{__name__}.{_PACKAGES[name]}')
        return globals()[name]
    if name not in _MODULE_OF:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(f'{__name__}.{_MODULE_OF[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # Modules and helpers are left out, so that completion at a prompt shows what users need.
    return sorted({*__all__, *(name for name in globals() if name.startswith('__'))})
