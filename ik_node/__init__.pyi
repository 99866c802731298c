# The public names of the package, for type checkers, and for `__init__.py`, which imports each of
# them on first use.
from ik_node.analysis.mobility import Mobility as Mobility
from ik_node.analysis.reach.base_placement import BasePlacement as BasePlacement
from ik_node.analysis.reach.volume import ReachVolume as ReachVolume
from ik_node.cli.check import check as check
from ik_node.conversions import robot_to_ik_root as robot_to_ik_root
from ik_node.conversions import set_ik_from_urdf as set_ik_from_urdf
from ik_node.conversions import set_urdf_from_ik as set_urdf_from_ik
from ik_node.errors import DescriptionError as DescriptionError
from ik_node.errors import EngineError as EngineError
from ik_node.errors import IkError as IkError
from ik_node.errors import OptionError as OptionError
from ik_node.errors import PlanError as PlanError
from ik_node.errors import ShapeError as ShapeError
from ik_node.errors import TopologyError as TopologyError
from ik_node.errors import UnknownFrameError as UnknownFrameError
from ik_node.errors import UnsupportedElementError as UnsupportedElementError
from ik_node.model.bodies import Box as Box
from ik_node.model.bodies import Capsule as Capsule
from ik_node.model.bodies import Cylinder as Cylinder
from ik_node.model.bodies import HalfSpace as HalfSpace
from ik_node.model.bodies import Hull as Hull
from ik_node.model.bodies import Mesh as Mesh
from ik_node.model.bodies import Sphere as Sphere
from ik_node.model.collisions import Collisions as Collisions
from ik_node.model.collisions import Distance as Distance
from ik_node.model.constraint import Closure as Closure
from ik_node.model.constraint import Goal as Goal
from ik_node.model.dof import DOF as DOF
from ik_node.model.dof import DOF_NAMES as DOF_NAMES
from ik_node.model.frame import find_roots as find_roots
from ik_node.model.frame import Frame as Frame
from ik_node.model.joint import Joint as Joint
from ik_node.model.joint import save_rest_pose as save_rest_pose
from ik_node.model.link import Link as Link
from ik_node.model.user_goal import UserGoal as UserGoal
from ik_node.robot import combine as combine
from ik_node.robot import from_dh as from_dh
from ik_node.robot import load_robot as load_robot
from ik_node.robot import Robot as Robot
from ik_node.scene.plot import plot as plot
from ik_node.solver.background import AsyncSolver as AsyncSolver
from ik_node.solver.batch.batch_solution import BatchSolution as BatchSolution
from ik_node.solver.batch.batch_solution import PathSolution as PathSolution
from ik_node.solver.batch.batch_solution import PoseErrors as PoseErrors
from ik_node.solver.options import SolverOptions as SolverOptions
from ik_node.solver.options import tracking as tracking
from ik_node.solver.result import PoseError as PoseError
from ik_node.solver.result import Solution as Solution
from ik_node.solver.result import SolveResult as SolveResult
from ik_node.solver.solver import Solver as Solver
from ik_node.solver.status import Status as Status
from ik_node.solver.status import STATUS_NAMES as STATUS_NAMES
from ik_node.solver.velocity import TwistError as TwistError
from ik_node.solver.velocity import VelocitySolution as VelocitySolution
from ik_node.viewer.view import view as view

from . import kernels as kernels
from . import scene as scene

__version__: str
__all__: list[str]
