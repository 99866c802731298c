"""
The table of the node's parameters, the only place that defines them.

Declaration and `--help` are made from `parameter_table`; config/ik_node.yaml and the README are
checked against it. The `solver.*` rows are made from the fields of SolverOptions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
import dataclasses
from dataclasses import dataclass
from itertools import pairwise
import math
from pathlib import Path
import re
import textwrap
from typing import Any, cast

from ik_node.description.yaml_document import parse_yaml
from ik_node.errors import DescriptionError, listed, OptionError
from ik_node.solver import SolverOptions

# Numbers without a point, which YAML 1.1, `ros2 param set` and `load` read as text.
_POINTLESS = re.compile(r'[-+]?([0-9]+[eE][-+]?[0-9]+|inf)')

Value = bool | int | float | str | tuple[str, ...] | tuple[float, ...]


@dataclass(frozen=True)
class ParameterSpec:
    """
    The name, default, meaning and allowed values of one parameter.

    The type is that of the default: bool, int, float, str, a tuple of str or a tuple of float.
    """

    name: str  # Full name with dots, `goals.<name>.link` for a goal's.
    # Value without an override. An empty list of names is `('',)`: ROS cannot type `[]`.
    default: Value
    doc: str  # One sentence for descriptors, `--help` and the README.
    unit: str = ''  # SI unit, '' for none.
    # Smallest and largest allowed number, both included; None = no bound.
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()  # The allowed strings; empty = any string.
    live: bool = True  # True if it may change while the node runs.
    form: str = ''  # How a text is written, for messages; '' = any text.

    @property
    def type_name(self) -> str:
        """Return the type as ROS writes it, `double[6]` for six numbers."""
        if isinstance(self.default, tuple):
            if isinstance(self.default[0], str):
                return 'string[]'
            return f'double[{len(self.default)}]'
        names: dict[type, str] = {bool: 'bool', int: 'int', float: 'double', str: 'string'}
        return names[type(self.default)]

    @property
    def allowed(self) -> str:
        """Return a description of the allowed values."""
        if self.choices or self.form:
            return self.form or ' or '.join(self.choices)
        unit = f' {self.unit}' if self.unit else ''
        if self.low is not None and self.high is not None and math.isfinite(self.high):
            return f'{self.type_name} from {self.low:g} to {self.high:g}{unit}'
        if self.low is not None:
            return f'{self.type_name} of at least {self.low:g}{unit}'
        return f'{self.type_name}{unit}'

    def check(self, value: Any) -> Value:
        """Return `value` in the type of the default, also '1e-6' as a double; or OptionError."""
        if not isinstance(self.default, tuple):
            checked: Value = self._entry(self.default, value, value)
            return checked
        if not _is_list(value):
            raise self._refusal(value)
        first = self.default[0]
        entries = tuple(self._entry(first, each, value) for each in value)
        if isinstance(first, str):
            return entries or ('',)
        # A list of one number may have any length but 0.
        if not entries or len(entries) != len(self.default) > 1:
            raise self._refusal(value)
        return entries

    def _entry(self, default: Any, entry: Any, value: Any) -> Any:
        """Return one number, text or truth value of a parameter's value, or raise OptionError."""
        kind = type(default)
        if kind is float and isinstance(entry, str) and _POINTLESS.fullmatch(entry):
            entry = float(entry)
        fits = isinstance(entry, (int, float) if kind is float else kind)
        if not fits or isinstance(entry, bool) != (kind is bool):
            raise self._refusal(value)
        if self.choices and entry not in self.choices:
            raise self._refusal(value)
        if kind not in (int, float):
            return entry
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        # An infinite value is allowed if it is a bound.
        unbounded = not math.isfinite(entry) and entry not in (self.low, self.high)
        if unbounded or not low <= entry <= high:
            raise self._refusal(value)
        return kind(entry)

    def _refusal(self, value: Any) -> OptionError:
        shown = list(value) if _is_list(value) else value
        text = self.default[0] if isinstance(self.default, tuple) else self.default
        entry = shown[0] if isinstance(shown, list) and shown else shown
        if isinstance(text, str) and isinstance(entry, (bool, int, float)):
            # The file contains a text, but only the value that ROS made of it is known here.
            return OptionError(
                self.name,
                shown,
                f"{self.allowed}, in quotes, as 'Y': without them ROS reads Y, y, yes and on as "
                'true, N, n, no and off as false, and digits as a number',
            )
        return OptionError(self.name, shown, self.allowed)


def _is_list(value: Any) -> bool:
    is_text = isinstance(value, (str, bytes))
    return hasattr(value, 'tolist') or (isinstance(value, Sequence) and not is_text)


_ROW = re.compile(
    r'(?P<name>\S+) = (?P<default>\(.*?\)|\'[^\']*\'|\S+?)(?: \[(?P<unit>.*?)\])?'
    r'(?:, (?P<low>[-\d.e]+) to (?P<high>[-\d.e]+)|, at least (?P<least>[-\d.e]+))?'
    r'(?:, one of (?P<choices>[\w ]+))?(?P<fixed>, at start only)?(?:, as (?P<form>.+))?'
)


def _rows(text: str) -> tuple[ParameterSpec, ...]:
    """
    Read rows of the table: a line with name, default and what is allowed, and a description.

    The line is NAME = DEFAULT [UNIT], then LOW to HIGH, or: at least LOW; for a text one of
    CHOICES, or: as FORM. With "at start only" it does not change while the node runs.
    """
    rows = []
    for head, doc in re.findall(r'^(\S.*)\n((?: .*\n)+)', text, re.MULTILINE):
        match = cast('re.Match[str]', _ROW.fullmatch(head))
        low, high = match['low'] or match['least'], match['high']
        rows.append(
            ParameterSpec(
                match['name'],
                ast.literal_eval(match['default']),
                ' '.join(doc.split()),
                unit=match['unit'] or '',
                low=None if low is None else float(low),
                high=None if high is None else float(high),
                choices=tuple((match['choices'] or '').split()),
                live=match['fixed'] is None,
                form=match['form'] or '',
            )
        )
    return tuple(rows)


NODE_PARAMETERS = _rows("""
robot_file = '', at start only
    File with the robot description, a path or a package:// or file:// URL, read with the closures
    beside it; the node then publishes robot_description. Empty = from robot_description.
robot_description = ''
    Text of the robot description; empty = from the topic robot_description.
closures = ''
    Closure annotations: a path, a package:// or file:// URL, or the YAML itself; empty = the loops
    declared in the description. It applies to the next description.
root = 'fixed', one of fixed floating
    Whether the root link is fixed, or floats in the frame world.
base_frame = ''
    Frame of goals without one; empty = root link, or world if that is not at its origin.
frame_prefix = ''
    Prefix of link names in messages and on /tf, as for robot_state_publisher; empty = none, or the
    prefix in base_frame: left/ of left/base_link.
goal_names = ('',)
    Names of the goals; each has a topic ~/goals/<name> and parameters.
rate = 100.0 [Hz], 0.1 to 2000
    Tick rate.
state_source = 'solution', one of solution measured actuated
    Start of each solve: the last solution, or the measured joint_states. With actuated there are
    no goals: joint_states fixes the actuated joints, and the solver computes the others; each
    measurement is answered when it arrives, with its stamp.
actuated_joints = ('',)
    Joints with a motor; empty = as in the description, or else all independent joints.
goal_timeout = 0.0 [s], 0 to 3600
    Age at which a goal is stale; 0 = never.
joint_state_timeout = 0.0 [s], 0 to 3600
    Age at which joint_states is stale; 0 = never.
on_stale = 'hold', one of hold stop ignore
    Reaction to stale input. hold: keep a stale goal at the pose of its link, solve from the last
    solution, repeat the last command. stop: publish no ~/joint_states and no commands. ignore:
    continue.
solve_ik_choice = 'nearest', one of nearest limits condition mode
    Which of all solutions ~/solve_ik answers with: the nearest to the seed, the farthest from the
    limits, the best conditioned, or the nearest one in the seed's mode.
stay_in_mode = False
    Hold the last configuration where goals would lead through a singularity to another mode.
publish_on = 'always', one of always converged
    When ~/joint_states is published; without convergence hardware outputs repeat the last command.
max_joint_velocity = 0.0, 0 to 1
    Share of the description's velocity limits that ~/joint_states keeps; 0 = no limit. Hardware
    outputs always keep the limits.
limit_tolerance = 0.05 [rad], 0 to 10
    Largest excess of a measured value over its limits with which the robot is still moved, inwards
    only; in m a tenth of it. solver.start_outside: clamp switches it off.
output.type = 'none', one of none joint_trajectory commands both
    Commands to hardware: ~/joint_trajectory, ~/commands, or both.
output.interface = 'position', one of position velocity effort
    Content of ~/commands. effort: the efforts of ~/joint_command, which ~/joint_trajectory then
    also has. At the end of commands, zero velocities or efforts are sent once.
output.joints = ('',)
    Commanded joints, in this order; empty = the actuated joints.
output.horizon = 0.0 [s], 0 to 10
    Time after which ~/joint_trajectory ends at rest, at least two periods; 0 = one point, one
    period ahead, in motion.
output.max_following_error = 0.2 [rad or m], 0 to 1000
    Largest distance of a commanded joint from its measurement; for a joint slower than 1 rad/s or
    m/s, the distance that it covers in that many seconds. Beyond it commands wait, then start
    again at the measured configuration. 0 = off.
output.action = '', at start only
    Action of the joint_trajectory_controller to which ~/follow_joint_trajectory passes plans, if
    control_msgs is installed; empty = the node has no such action.
output.groups = ('',), at start only
    Groups of joints that have a controller each, as left_arm and gripper; each has parameters.
    Empty = one output for all joints, by output.type, joints and action.
transmission.actuators = ('',)
    Motors between which and transmission.joints the node converts velocities, efforts and
    commands; empty = the actuated joints.
transmission.joints = ('',)
    Joint space: the joints of joint-space commands and plans, whose efforts and singularities are
    computed; empty = none.
transmission.path_tolerance = 0.0001 [m or rad], 1e-7 to 1
    Largest opening of a loop between two points of a trajectory that is made from a joint-space
    plan; points are added to keep it.
transmission.singularity_warning = 0.05, 0 to 1
    Nearness below which /diagnostics warns of a singularity: at 0.01 a joint moves a hundred times
    as fast as the motors, or the reverse; 0 = never.
transmission.max_effort_scale = 1.0, 0 to 1
    Share of the effort and velocity limits of motors that efforts and velocities in the joint
    space may need, near singularities above all; larger ones are scaled down.
collisions.enabled = True
    Whether the robot keeps away from obstacles and itself, as soon as there are obstacles.
collisions.always = False
    Whether it also keeps away from itself without obstacles.
collisions.margin = 0.0 [m], 0 to 1e6
    Least distance of two bodies.
collisions.influence_distance = 0.05 [m], 0 to 1e6
    Distance beyond the margin within which bodies change a step and are reported.
collisions.obstacles_file = ''
    YAML file of obstacles, a path or a package:// or file:// URL; empty = none.
locked_joints = ('',)
    Joints that the solver does not move.
rest_pose = ''
    Pose to which redundant joints drift, a YAML mapping of joints to rad or m: '{elbow: 0.5}'. It
    replaces a saved rest pose.
joint_targets = ''
    Target values of joints, a YAML mapping as rest_pose; ~/joint_targets may change them.
markers.rate = 20.0 [Hz], 0.1 to 2000
    Drawing rate of ~/markers, at most once per tick; each layer is one message.
markers.layers = 'frames axes limits closures goals'
    Layers on ~/markers: some of frames links axes limits closures goals labels visuals
    collisions.
markers.scale = 0.0 [m], 0 to 1000
    Length of a joint's axis on ~/markers; other sizes are proportional to it. 0 = from the robot's
    size.
markers.color = ''
    Colour of frames, links, axes, limits and labels, '#rrggbb' or '#rrggbbaa'; empty = the own
    colour of each.
markers.draw_through = 0.0, 0 to 1
    Opacity of shapes hidden by links: the links of ~/markers become that much more transparent.
markers.interactive = False
    Whether goals can be dragged in RViz: ~/goal_markers, if interactive_markers is installed.
""")
GOAL_PARAMETERS = _rows("""
goals.<name>.link = ''
    Link that the goal moves; empty = the goal is inactive.
goals.<name>.dof = 'X Y Z EX EY EZ', as axes of X Y Z EX EY EZ in one text, such as 'X Y Z'
    Constrained axes.
goals.<name>.axes = 'world', one of world goal link
    Frame of the axes in `dof`.
goals.<name>.offset = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0) [m, rad]
    Pose of the goal's frame in the link: x y z roll pitch yaw.
goals.<name>.weight = 1.0, 0 to 1e6
    Weight among goals of the same priority.
goals.<name>.priority = 0, 0 to 100
    Goals of a lower number are met first.
goals.<name>.tolerance = (0.0,) [m, rad], at least 0
    Residual that counts as met: one number, or two for m and rad, or one for each axis in `dof`;
    0.0 = the thresholds of `solver`.
goals.<name>.enabled = True
    Whether the goal is enabled.
""")
GROUP_PARAMETERS = _rows("""
output.<name>.joints = ('',), at start only
    Joints of the group, in the order of its controller.
output.<name>.type = 'joint_trajectory', one of none joint_trajectory commands, at start only
    What the controller of the group takes on its topic.
output.<name>.topic = '', at start only
    Topic of the controller; empty = ~/<name>/joint_trajectory or ~/<name>/commands.
output.<name>.action = '', at start only
    Action of the joint_trajectory_controller that gets its part of each plan; empty = none.
""")

# Defaults that differ from the library's: a restart in motion could jump to another branch.
SOLVER_DEFAULTS: dict[str, Any] = {'restarts': 0}


def solver_parameters() -> tuple[ParameterSpec, ...]:
    """Return one row `solver.<field>` for each field of SolverOptions except functions."""
    rows = []
    for field in dataclasses.fields(SolverOptions):
        if not field.metadata['parameter']:
            continue
        doc = field.metadata['doc']
        # Shares and counts have the unit one, which is not printed.
        unit = field.metadata['unit']
        counted = not isinstance(field.default, (bool, str))
        low, high = field.metadata['range'] if counted else (None, None)
        rows.append(
            ParameterSpec(
                f'solver.{field.name}',
                SOLVER_DEFAULTS.get(field.name, field.default),
                f'{doc[0].upper()}{doc[1:]}.',
                unit='' if unit == '1' else unit,
                low=low,
                high=high,
                choices=field.metadata['allowed'],
            )
        )
    return tuple(rows)


def goal_parameters(goal: str) -> tuple[ParameterSpec, ...]:
    """Return the rows of one goal, with the goal's name in their names."""
    return _named(GOAL_PARAMETERS, goal)


def group_parameters(group: str) -> tuple[ParameterSpec, ...]:
    """Return the rows of one group of `output.groups`, with its name in their names."""
    return _named(GROUP_PARAMETERS, group)


def _named(specs: tuple[ParameterSpec, ...], name: str) -> tuple[ParameterSpec, ...]:
    return tuple(
        dataclasses.replace(spec, name=spec.name.replace('<name>', name)) for spec in specs
    )


def parameter_table() -> tuple[ParameterSpec, ...]:
    """Return all rows; those of goals and groups have `<name>` in place of a name."""
    return NODE_PARAMETERS + GOAL_PARAMETERS + GROUP_PARAMETERS + solver_parameters()


def yaml_value(value: Value) -> str:
    """Return a value as YAML that ROS reads back with the same type."""
    if isinstance(value, tuple):
        return '[' + ', '.join(yaml_value(entry) for entry in value) + ']'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        text = repr(value).replace('inf', '.inf')
        if 'e' in text and '.' not in text:
            text = text.replace('e', '.0e')
        return text
    return str(value)


def help_text() -> str:
    """Return the table for the terminal: name, type, default, and the description below."""
    lines = []
    for spec in parameter_table():
        live = '' if spec.live else '  (at start only)'
        lines.append(f'  {spec.name}: {spec.allowed}, default {yaml_value(spec.default)}{live}')
        lines.append(textwrap.indent(textwrap.fill(spec.doc, 93), '      '))
    return '\n'.join(lines)


def unused_files(words: Sequence[str], node_name: str) -> Iterator[str]:
    """Yield a message for each parameter file of a command line that has nothing for a node."""
    for word, path in pairwise(words):
        if word != '--params-file':
            continue
        # rcl has read the file already; what it accepts beyond YAML is not judged here.
        try:
            nodes = list(_nodes_of(parse_yaml(Path(path).read_text(encoding='utf-8'), path)))
        except (OSError, ValueError, DescriptionError):
            continue
        if nodes and not any(_names(pattern, node_name) for pattern in nodes):
            yield (
                f'parameter file {path}: it has parameters for {listed(nodes, 5)}, none for '
                f'{node_name}, so it changes nothing; begin it with {node_name}: or with /**:'
            )


def _nodes_of(tree: Any, before: str = '') -> Iterator[str]:
    """Yield the names of all nodes in a parameter file, whose namespaces may be nested."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        name = f'{before}/{str(key).strip("/")}'
        if isinstance(value, dict) and 'ros__parameters' in value:
            yield name
        else:
            yield from _nodes_of(value, name)


def _names(pattern: str, node_name: str) -> bool:
    """Return True if a name in which * and ** stand for one and any number of parts names it."""
    parts = {'**': '(/[^/]+)*', '*': '/[^/]+'}
    expression = ''.join(parts.get(part, f'/{re.escape(part)}') for part in pattern[1:].split('/'))
    return re.fullmatch(expression, node_name) is not None
