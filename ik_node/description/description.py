"""The result of reading a robot description: the model graph, its names and its loops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from ik_node.errors import DescriptionError, IkError, listed, OptionError, similar
from ik_node.model.attributes import ByName
from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_identity
import numpy as np
from numpy.typing import NDArray


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name with underscores appended until it is not taken."""
    while name in taken:
        name += '_'
    return name


class Names:
    """A source of unique names."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._counts: dict[str, int] = {}

    def unique(self, base: str) -> str:
        """Take and return a name, with a number appended if it is already taken."""
        name, count = base, self._counts.get(base, 1)
        while name in self.taken:
            count += 1
            name = f'{base}_{count}'
        self._counts[base] = count
        self.taken.add(name)
        return name


def quoted(names: Collection[str], limit: int = 8) -> str:
    """Return the first names in quotation marks, separated by commas."""
    return ', '.join(map(repr, islice(names, limit))) + (', ...' if len(names) > limit else '')


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Return the message for an unknown name, with similar or known names."""
    near = similar(name, known)
    if near:
        return f'there is no {kind} {name!r}; did you mean {near}?'
    return f'there is no {kind} {name!r}; known: {listed(known)}'


@dataclass
class LoopFrame:
    """A frame fixed in a link."""

    link: str
    # [m], in the link's frame
    position: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    quat_xyzw: NDArray[np.float64] = field(default_factory=quat_identity)


@dataclass
class Loop:
    """A loop closure: the components of frame_a's pose in frame_b that must vanish."""

    name: str
    frame_a: LoopFrame
    frame_b: LoopFrame
    type_name: str = 'weld'  # A key of `ik_node.model.constraint.CLOSURE_TYPES`
    # The following are as in the file; the closure checks them
    dofs: str | Iterable[str | DOF] | None = None  # Constrained axes; None = those of the type
    distance: float | None = None  # [m], for the type 'distance'
    tolerance: Sequence[float] | None = None
    weight: float = 1.0
    enabled: bool = True
    # Rounding errors [m], [rad], see `Closure.rounding`, if larger than those of the description
    rounding: Sequence[float] = (0.0, 0.0)
    line: int | None = None  # Line of its declaration

    @property
    def ends(self) -> tuple[str, str]:
        """Return the links of frame_a and frame_b."""
        return self.frame_a.link, self.frame_b.link


@dataclass
class CouplingRule:
    """A joint value as a polynomial of another one, or as a sum of such polynomials, by names."""

    # joint, master: A joint's name, or NAME.EZ if it has several DoF
    joint: str
    master: str
    coefficients: list[float]  # c_0, c_1, ... of q = sum over i of c_i q_master**i.
    line: int | None = None
    # Further masters, and the coefficients of their polynomials
    others: list[tuple[str, list[float]]] = field(default_factory=list)

    @property
    def terms(self) -> list[tuple[str, list[float]]]:
        """Return the name and the coefficients of each master."""
        return [(self.master, self.coefficients), *self.others]


@dataclass
class LoopSet:
    """The loops, couplings and motors that one source declares."""

    source: str  # File name, or '<text>'
    dialect: str = ''  # Name of the notation, for the log if the source declares something
    loops: list[Loop] = field(default_factory=list)
    couplings: list[CouplingRule] = field(default_factory=list)
    actuated: list[str] | None = None  # Joints with a motor; None = not declared
    notes: list[str] = field(default_factory=list)  # Notes to add to the description


Fail = Callable[[str, int | None], DescriptionError]


def apply_loops(loop_set: LoopSet, description: Description) -> None:
    """
    Add closures, couplings and the list of motors to a model.

    A closure is a child of frame_b's link with the pose of frame_b. It closes on frame_a's link
    with frame_a as its offset. DescriptionError is raised if a name is unknown or used twice, or a
    loop or coupling is not valid.
    """

    def fail(message: str, line: int | None = None) -> DescriptionError:
        return DescriptionError(message, source=loop_set.source, line=line)

    for loop in loop_set.loops:
        _add_closure(loop, description, fail)
    description.notes += loop_set.notes
    for rule in loop_set.couplings:
        _add_coupling(rule, description, fail)
        description.coupled_at[rule.joint] = loop_set.source, rule.line
    if loop_set.actuated is not None:
        for name in loop_set.actuated:
            _movable(name, description, fail, None, 'actuated')
        description.actuated = list(loop_set.actuated)
    if loop_set.dialect and (loop_set.loops or loop_set.couplings or loop_set.actuated):
        description.dialect += f' + {loop_set.dialect}'


def _add_closure(loop: Loop, description: Description, fail: Fail) -> None:
    what = f'closure {loop.name!r}'
    if loop.name in description.closures:
        raise fail(f'{what}: that name is taken by another closure', loop.line)
    if WORLD in loop.ends and WORLD not in description.links:
        description.links[WORLD] = Link(WORLD)
        description.roots.append(description.links[WORLD])
        description.notes.append(
            f'{what}: the link "{WORLD}" is not declared; it is taken as the fixed world'
        )
    for end, frame in (('frame_a', loop.frame_a), ('frame_b', loop.frame_b)):
        if frame.link not in description.links:
            message = unknown('link', frame.link, list(description.links))
            raise fail(f'{what}: {end}: {message}', loop.line)
    if loop.frame_a.link == loop.frame_b.link:
        raise fail(
            f'{what}: frame_a and frame_b are both on the link {loop.frame_a.link!r}; '
            'a closure connects two links',
            loop.line,
        )
    closure = Closure(loop.name, loop.type_name)
    if loop.dofs is not None and closure.kind != 'frame':
        raise fail(f'{what}: dof {loop.dofs} cannot go with type {loop.type_name}', loop.line)
    if (closure.kind == 'distance') != (loop.distance is not None):
        raise fail(f'{what}: the type distance and a distance [m] go together', loop.line)
    try:
        if loop.dofs is not None:
            closure.set_dof(*parse_dofs(loop.dofs))
        closure.distance = loop.distance or 0.0
        closure.tolerance = loop.tolerance
        closure.weight = loop.weight
    except IkError as error:
        raise fail(f'{what}: {error}', loop.line) from None
    closure.enabled = loop.enabled
    closure.rounding = tuple(map(max, description.rounding or (0.0, 0.0), loop.rounding))
    closure.set_position(*loop.frame_b.position)
    closure.set_quaternion(*loop.frame_b.quat_xyzw)
    closure.set_offset(loop.frame_a.position, loop.frame_a.quat_xyzw)
    description.links[loop.frame_b.link].add_child(closure)
    closure.make_closure(description.links[loop.frame_a.link])
    description.closures[loop.name] = closure


def _add_coupling(rule: CouplingRule, description: Description, fail: Fail) -> None:
    what = f'coupling of {rule.joint!r}'
    joint, dof = _movable(rule.joint, description, fail, rule.line, what)
    terms = [
        (*_movable(name, description, fail, rule.line, what), coefficients)
        for name, coefficients in rule.terms
    ]
    if dof in joint.couplings:
        description.notes.append(f'the coupling of {rule.joint!r} replaces its mimic')
        joint.uncouple(dof)
    try:
        joint.couple_sum(dof, terms)
    except IkError as error:
        raise fail(f'{what}: {error}', rule.line) from None


def _movable(
    name: str, description: Description, fail: Fail, line: int | None, where: str
) -> tuple[Joint, DOF]:
    joint, values = description.joints.get(name), description.values
    if joint is None and name not in values:
        raise fail(f'{where}: {unknown("joint", name, list(values))}', line)
    if joint is not None and not joint.dof:
        raise fail(f'{where}: the joint {name!r} is fixed; a movable one is needed', line)
    if joint is not None and len(joint.dof) > 1 and where != 'actuated':
        raise fail(f'{where}: {name!r} has several DoF; name one: {joint.value_names}', line)
    return values[name] if joint is None else (joint, joint.dof[0])


@dataclass(frozen=True)
class Source:
    """A text that (a part of) a description was read from."""

    text: bytes | str  # The text, with xacro expanded
    name: str  # File name, or '<text>'
    prefix: str = ''  # What the names of its links and joints have in front


# The fixed link. A closure may use it without a declaration, also if the base floats.
WORLD = 'world'


@dataclass(repr=False)
class Description:
    """The model graph of a robot description, with its names."""

    name: str  # Name of the robot
    source: str = '<text>'  # File name, or '<text>'
    text: bytes | str = ''  # The description as it was given
    dialect: str = ''  # The recognised formats and notations, for the log
    # One per tree; with a floating base, the 6-DoF joint above the tree's first link
    roots: list[Link | Joint] = field(default_factory=list)
    # In the description's order, like the following mappings
    links: dict[str, Link] = field(default_factory=partial(ByName, 'link'))
    # Movable and fixed ones
    joints: dict[str, Joint] = field(default_factory=partial(ByName, 'joint'))
    closures: dict[str, Closure] = field(default_factory=partial(ByName, 'closure'))
    # All loops that the description itself declares; `closures` holds those in use
    loops: list[LoopSet] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)  # Joints with a motor; empty = not known
    # What was guessed, left out or corrected while reading
    notes: list[str] = field(default_factory=list)
    rounded_angles: int = 0  # Number of pose angles that are rounded fractions of pi
    no_axis: list[str] = field(default_factory=list)  # Joints of a URDF without <axis>
    # File and line that declare the coupling of a joint value, by its name
    coupled_at: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    # The texts of a description that is combined from several; else empty
    parts: list[Source] = field(default_factory=list)
    prefix: str = ''  # What all names have in front that the text does not have
    # Root mean square of the rounding errors that the digits of all positions [m] and rotations
    # [rad] allow; None = it was not read from a text
    rounding: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return f'Description({self.name!r}, {self.dialect})'

    def located(self, error: OptionError) -> IkError:
        """Return an error about the limits of a coupled value with the file and line, if known."""
        for name, (source, line) in self.coupled_at.items():
            if error.name == f'limits of {name!r}':
                return DescriptionError(str(error), source=source, line=line)
        return error

    @property
    def root(self) -> Link | Joint:
        """Return the first root."""
        return self.roots[0]

    @property
    def joint_order(self) -> list[Joint]:
        """Return the movable joints, in the description's order."""
        return [joint for joint in self.joints.values() if joint.dof]

    @property
    def values(self) -> dict[str, tuple[Joint, DOF]]:
        """Return the joint and axis of each value NAME, or NAME.EZ for a joint with several."""
        return {
            name: (joint, dof)
            for joint in self.joint_order
            for name, dof in zip(joint.value_names, joint.dof, strict=True)
        }

    @property
    def couplings(self) -> list[CouplingRule]:
        """Return the couplings that the description itself declares."""
        return [rule for loop_set in self.loops for rule in loop_set.couplings]

    @property
    def sources(self) -> list[Source]:
        """Return the texts that the description was read from."""
        return self.parts or [Source(self.text, self.source, self.prefix)]

    def put_before_names(self, prefix: str) -> None:
        """Put a prefix before the names of all links, joints and closures."""
        self.prefix = prefix
        for frames in (self.links, self.joints, self.closures):
            renamed = {prefix + name: frame for name, frame in frames.items()}
            for name, frame in renamed.items():
                frame.name = name
            frames.clear()
            frames.update(renamed)  # type: ignore[arg-type]
        self.actuated = [prefix + name for name in self.actuated]
