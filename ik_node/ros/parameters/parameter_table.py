"""
The table of the node's parameters: the one place where they are written down.

Declaration, `--help`, config/ik_node.yaml and the README's table all come from, or are checked
against, `parameter_table`. The `solver.*` rows are made from the fields of SolverOptions.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ik_node.ros.parameters.parameter_spec import ParameterSpec
from ik_node.solver import SolverOptions

NODE_PARAMETERS: tuple[ParameterSpec, ...] = (
    ParameterSpec(
        'robot_description',
        '',
        'Text of the robot; empty = taken from the topic robot_description.',
    ),
    ParameterSpec(
        'closures',
        '',
        'Closure annotations: a path, a package:// URL or the YAML itself; empty = the '
        'loops declared in the description. Used from the next description on.',
    ),
    ParameterSpec(
        'root',
        'fixed',
        'Whether the root link stands still, or moves freely in the frame world.',
        choices=('fixed', 'floating'),
    ),
    ParameterSpec(
        'base_frame',
        '',
        'Frame of goals without one; empty = root link, or world if that is not at its origin.',
    ),
    ParameterSpec(
        'frame_prefix',
        '',
        'Text before the names of links in messages and on /tf, as for robot_state_publisher; '
        'empty = none, or the text before a link in base_frame: left/ of left/base_link.',
    ),
    ParameterSpec(
        'goal_names', ('',), 'Names of the goals; each gets a topic ~/goals/<name> and parameters.'
    ),
    ParameterSpec('rate', 100.0, 'Ticks a second.', unit='Hz', low=0.1, high=2000.0),
    ParameterSpec(
        'state_source',
        'solution',
        'Where a tick starts: from the last solution, or from joint_states. With actuated it '
        'solves for no goals: joint_states holds the actuated joints, and the others follow; each '
        'measurement is answered when it arrives, with its stamp.',
        choices=('solution', 'measured', 'actuated'),
    ),
    ParameterSpec(
        'actuated_joints',
        ('',),
        'Joints with a motor; empty = as the description says, else all that follow no other.',
    ),
    ParameterSpec(
        'goal_timeout',
        0.0,
        'Age at which a goal is stale; 0 = never.',
        unit='s',
        low=0.0,
        high=3600.0,
    ),
    ParameterSpec(
        'joint_state_timeout',
        0.0,
        'Age at which joint_states is stale; 0 = never.',
        unit='s',
        low=0.0,
        high=3600.0,
    ),
    ParameterSpec(
        'on_stale',
        'hold',
        'Stale input: hold a goal where its link is (a measured start: the last solution; '
        'hardware outputs: the last command), stop publishing ~/joint_states and commands, or '
        'ignore the age.',
        choices=('hold', 'stop', 'ignore'),
    ),
    ParameterSpec(
        'publish_on',
        'always',
        'When ~/joint_states is published; while not converged, hardware outputs repeat the last '
        'command.',
        choices=('always', 'converged'),
    ),
    ParameterSpec(
        'max_joint_velocity',
        0.0,
        "Share of the description's velocity limits kept by ~/joint_states; 0 = off. Hardware "
        'outputs always keep the limits.',
        low=0.0,
        high=1.0,
    ),
    ParameterSpec(
        'output.type',
        'none',
        'Commands to hardware: ~/joint_trajectory, ~/commands, or both.',
        choices=('none', 'joint_trajectory', 'commands', 'both'),
    ),
    ParameterSpec(
        'output.joints',
        ('',),
        'Joints that are commanded, in this order; empty = the actuated ones.',
    ),
    ParameterSpec(
        'output.horizon',
        0.0,
        'How far ahead ~/joint_trajectory ends, at rest, at least two periods; 0 = one point, a '
        'period ahead, in motion.',
        unit='s',
        low=0.0,
        high=10.0,
    ),
    ParameterSpec(
        'output.max_following_error',
        0.2,
        'Largest distance of a commanded joint from its measurement; for a joint slower than 1 '
        'rad/s or m/s, its way in that many seconds. Beyond it commands wait, then begin again '
        'where the robot is measured. 0 = off.',
        unit='rad or m',
        low=0.0,
        high=1.0e3,
    ),
    ParameterSpec('locked_joints', ('',), 'Joints that are held where they are.'),
    ParameterSpec(
        'rest_pose',
        '',
        "Where redundant joints drift to, a YAML mapping of joints to rad or m: '{elbow: 0.5}'. "
        'Replaces one that was saved.',
    ),
    ParameterSpec(
        'joint_targets',
        '',
        'Wishes for joints, a YAML mapping as for rest_pose; ~/joint_targets may change them.',
    ),
    ParameterSpec(
        'markers.rate',
        20.0,
        'How often ~/markers is drawn, at most once a tick; each layer is a message.',
        unit='Hz',
        low=0.1,
        high=2000.0,
    ),
    ParameterSpec(
        'markers.layers',
        'frames axes limits closures goals',
        'What ~/markers shows: some of frames links axes limits closures goals labels visuals.',
    ),
    ParameterSpec(
        'markers.scale',
        0.0,
        "Length of a joint's axis on ~/markers, to which other sizes keep their proportion; 0 = "
        "by the robot's size.",
        unit='m',
        low=0.0,
        high=1.0e3,
    ),
    ParameterSpec(
        'markers.color',
        '',
        "Colour of frames, links, axes, limits and labels, '#rrggbb' or '#rrggbbaa'; empty = each "
        'its own.',
    ),
    ParameterSpec(
        'markers.draw_through',
        0.0,
        'Opacity of what links hide: the links of ~/markers are so much more transparent.',
        low=0.0,
        high=1.0,
    ),
    ParameterSpec(
        'markers.interactive',
        False,
        'Whether goals can be dragged: ~/goal_markers, where interactive_markers is installed.',
    ),
)

GOAL_PARAMETERS: tuple[ParameterSpec, ...] = (
    ParameterSpec('goals.<name>.link', '', 'Link that the goal moves; empty = not active.'),
    ParameterSpec('goals.<name>.dof', 'X Y Z EX EY EZ', 'Wanted axes.'),
    ParameterSpec(
        'goals.<name>.axes',
        'world',
        'Frame whose axes `dof` names.',
        choices=('world', 'goal', 'link'),
    ),
    ParameterSpec(
        'goals.<name>.offset',
        (0.0,) * 6,
        "Pose of the goal's frame in the link: x y z roll pitch yaw.",
        unit='m, rad',
    ),
    ParameterSpec(
        'goals.<name>.weight', 1.0, 'Weight among goals of one priority.', low=0.0, high=1.0e6
    ),
    ParameterSpec(
        'goals.<name>.priority', 0, 'Level; goals of a lower number come first.', low=0, high=100
    ),
    ParameterSpec('goals.<name>.enabled', True, 'Whether the goal takes part.'),
)

# A restart while moving would jump to another branch.
SOLVER_DEFAULTS: dict[str, Any] = {'restarts': 0}


def solver_parameters() -> tuple[ParameterSpec, ...]:
    """Return one row `solver.<field>` for each field of SolverOptions that is no function."""
    rows = []
    for field in dataclasses.fields(SolverOptions):
        if not field.metadata['parameter']:
            continue
        doc = field.metadata['doc']
        # A share or a count has the unit one, which is not worth a word.
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
    """Return the rows of one goal, with its name in theirs."""
    return tuple(
        dataclasses.replace(spec, name=spec.name.replace('<name>', goal))
        for spec in GOAL_PARAMETERS
    )


def parameter_table() -> tuple[ParameterSpec, ...]:
    """Return every row, the goals' with `<name>` in place of a goal's name."""
    return NODE_PARAMETERS + GOAL_PARAMETERS + solver_parameters()
