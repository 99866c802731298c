"""Content of ~/solve_status, ~/residuals and /diagnostics, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ik_node.errors import listed
from ik_node.model.collisions import CONTACT, Distance
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import ERROR, OK, Pose, StatusRow, WARN
from ik_node.ros.process import NodeCounts
from ik_node.solver import Solution, SolveResult, SolverOptions
from ik_node.transmission.state import Singularity
import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class TickReport:
    """The result of one tick, or of a measurement that is answered between ticks."""

    # Configuration to publish (nq,) [rad or m], with closed loops and within limits.
    q: NDArray[np.float64]
    # Difference to the last tick divided by the time between them, or to the answer to the last
    # measurement divided by the difference of their stamps (nq,) [rad/s or m/s].
    velocity: NDArray[np.float64]
    # The solver's result, also if it is reused from an earlier tick; None without a solve.
    solution: Solution | None
    held: str = ''  # Why `q` is that of the last tick, or why there was no solve; '' otherwise.
    notes: tuple[str, ...] = ()  # Further information for the user, for example about stale input.
    under_way: bool = False  # True if `q` is on the way to the solution, at the velocity limits.
    # Poses of the solved goals, root frame [m].
    goals: Mapping[str, Pose] = field(default_factory=dict)
    stale: bool = False  # True if input was stale and its age is not ignored.
    silent: bool = False  # True if joint states must not be published.
    # Efforts from measured ones (nq,) [N m or N]; None = unknown.
    effort: NDArray[np.float64] | None = None

    @property
    def converged(self) -> bool:
        """Return True if `q` meets every goal and closes every loop."""
        return (
            not self.held
            and not self.under_way
            and self.solution is not None
            and (self.solution.status.name == 'CONVERGED')
        )


_LEVELS = {'CONVERGED': OK, 'STALLED': WARN, 'TIMEOUT': WARN, 'DIVERGED': ERROR}


def solve_rows(node: str, report: TickReport) -> list[StatusRow]:
    """
    Return one row per chain.

    The message starts with CONVERGED only if the chain's goals are met, its loops are closed and
    this configuration is published.
    """
    solution = report.solution
    if solution is None:
        return [StatusRow(WARN, f'{node}: chain', f'not solved: {report.held}')]
    if not solution.chains:
        message = '; '.join(['CONVERGED: no goal and no loop', *report.notes])
        return [StatusRow(WARN if report.notes else OK, f'{node}: no chain', message)]
    rows = [_chain_row(node, chain, report) for chain in solution.chains]
    if solution.nearest is not None:
        for row in rows:
            row.values.update(_nearest_values(solution.nearest))
    return rows


def _chain_row(node: str, chain: SolveResult, report: TickReport) -> StatusRow:
    status = chain.status.name
    level = _LEVELS[status]
    if report.held:
        # The published configuration is not the one that the status describes.
        shown = 'STALLED' if status == 'CONVERGED' else status
        message = f'{shown}: holding the last configuration, {report.held}'
        level = ERROR
    elif report.under_way:
        message, level = 'STALLED: moving to the solution at the velocity limits', WARN
    elif status == 'CONVERGED':
        message = status
    else:
        message = chain.message
    if report.notes:
        level = max(level, WARN)
        message = '; '.join([message, *report.notes])
    values = {
        'iterations': str(chain.iterations),
        'starts': str(chain.starts),
        'solve_time': f'{chain.solve_time:.3g}',
    }
    for kind, errors in (('goal', chain.goal_errors), ('closure', chain.closure_errors)):
        for name, error in errors.items():
            values[f'{kind}.{name}.position'] = f'{error.position:.3g}'
            values[f'{kind}.{name}.orientation'] = f'{error.orientation:.3g}'
    values['active_limits'] = ' '.join(chain.active_limits)
    label = listed(chain.goal_errors or chain.closure_errors)
    return StatusRow(level, f'{node}: {label}', message, values)


def model_row(
    node: str,
    model: LoadedModel | None,
    refused: str,
    building: bool,
    released: Collection[str] = (),
) -> StatusRow:
    """Return the row of the model, and of why the last description was refused."""
    name = f'{node}: model'
    values: dict[str, str] = {'building': str(building).lower()}
    if model is None:
        if refused:
            return StatusRow(ERROR, name, f'no model: {refused}', values)
        if building:
            return StatusRow(WARN, name, 'building the first model', values)
        return StatusRow(WARN, name, 'waiting for robot_description', values)
    robot = model.robot
    values['robot'] = robot.name
    values['joints'] = str(len(model.joint_names))
    values['loops'] = str(len(robot.closures))
    values['goals'] = ' '.join(robot.goals)
    values['mobility'] = str(model.mobility)
    if released:
        values['released'] = ' '.join(sorted(released))
    if refused:
        message = f'keeping {robot.name}; the last description was refused: {refused}'
        return StatusRow(ERROR, name, message, values)
    return StatusRow(OK, name, f'robot {robot.name}', values)


def transmission_row(
    node: str, singularity: Singularity | None, warning: str, note: str
) -> StatusRow:
    """Return the row of the joint space; `note` says why there is no transmission."""
    name = f'{node}: transmission'
    if singularity is None:
        return StatusRow(ERROR, name, f'no joint space: {note}')
    values = {
        'nearness': f'{singularity.nearness:.3g}',
        'condition': f'{singularity.condition:.3g}',
    }
    values |= {name: f'{getattr(singularity, name):.3g}' for name in ('ratio_1', 'ratio_2')}
    for kind in ('type_1', 'type_2'):
        least, largest = getattr(singularity, kind)
        values |= {f'{kind}.smallest': f'{least:.3g}', f'{kind}.largest': f'{largest:.3g}'}
    return StatusRow(WARN if warning else OK, name, warning or 'no singularity is near', values)


def collision_rows(
    node: str, model: LoadedModel, q: NDArray[np.float64], options: SolverOptions
) -> list[StatusRow]:
    """Return the diagnostic row of the least distance of bodies, if collisions are avoided."""
    collisions = model.robot.collisions
    if not collisions.avoided(options.avoid_collisions):
        return []
    name, near = f'{node}: collisions', collisions.nearest(q)
    values = {'obstacles': str(len(collisions.obstacles)), 'pairs': str(len(collisions.pairs))}
    if near is None:
        return [StatusRow(OK, name, 'no pair of bodies', values)]
    nearest = near.distance()
    values |= _nearest_values(nearest)
    level = WARN if nearest.d < options.collision_margin - CONTACT else OK
    return [StatusRow(level, name, str(nearest), values)]


def _nearest_values(nearest: Distance) -> dict[str, str]:
    return {'nearest.distance': f'{nearest.d:.6g}', 'nearest.pair': ' '.join(nearest.pair)}


def rate_row(node: str, rate: float, target: float, counts: NodeCounts) -> StatusRow:
    """
    Return the diagnostic row of the tick rate [Hz] and of the message counts.

    It warns if more than one tick in twenty is missing. The count of one second is inexact by one.
    """
    late = rate < max(0.95 * target - 1.0, 0.5 * target)
    values = {
        'rate': f'{rate:.1f}',
        'wanted_rate': f'{target:g}',
        'ticks': str(counts.ticks),
        'missed_ticks': str(counts.missed_ticks),
        'longest_interval': f'{counts.longest_interval:.3g}',
        'goals': str(counts.goals),
        'joint_states': str(counts.joint_states),
    }
    message = f'{rate:.1f} of {target:g} Hz'
    if late:
        message += f': ticks are late, by up to {counts.longest_interval:.3g} s between two'
    return StatusRow(WARN if late else OK, f'{node}: ticks', message, values)


def twist_row(node: str, note: str) -> StatusRow:
    """Return the diagnostic row of goals by velocity; `note` says which one cannot follow."""
    return StatusRow(WARN if note else OK, f'{node}: twists', note or 'every goal follows')


def output_row(node: str, commanding: bool, note: str, fault: str = '') -> StatusRow:
    """Return the row of the outputs: why they do not follow the goals, or do not follow at all."""
    if not commanding:
        return StatusRow(WARN, f'{node}: output', f'silent: {note}')
    if fault:
        return StatusRow(ERROR, f'{node}: output', f'commanding: {fault}')
    if note:
        return StatusRow(WARN, f'{node}: output', f'commanding: {note}')
    return StatusRow(OK, f'{node}: output', 'commanding')


def input_row(node: str, counts: Mapping[str, int], last: str, new: int) -> StatusRow:
    """Return the diagnostic row of refused messages: counts, last reason, number of new ones."""
    values = {topic: str(count) for topic, count in counts.items()}
    values['last'] = last
    message = f'{sum(counts.values())} messages refused' if counts else 'no message refused'
    return StatusRow(WARN if new else OK, f'{node}: input', message, values)
