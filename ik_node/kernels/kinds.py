"""
The kinds of constraints, one row for each, from which every other table of kinds follows.

A constraint has one row for each axis that it constrains, as far as its kind has `axes`, and
`more` rows besides. The equation of a kind is in `rows.residuals`, in NumPy in `model.residual`,
and on paper in docs/theory.md, section 3.
"""

from typing import NamedTuple

ALL_AXES = 'X Y Z EX EY EZ'


class Kind(NamedTuple):
    """What the package knows of a kind of constraint besides its equation."""

    # What it asks of the link, or of the frames A on the link and B of the goal or closure; the
    # docstrings of users consist of it.
    about: str
    # Who makes it. 'goal': `Robot.add_goal`, or any goal or closure by its attribute `kind`.
    # 'closure': a closure type, or a goal by that attribute. 'joint': the reader, from limits and
    # couplings of joints. 'user': a goal that brings its own residual.
    use: str
    axes: str = ''  # Axes that have a row where they are constrained; '' = rows have no axes
    more: int = 0  # Number of rows besides, which stand after those of X Y Z
    by_point: int = 0  # How many of these are velocities of a point; others are angular
    in_metres: int = 0  # How many of these count in [m]; the others count in [rad]
    counted: str = ''  # 'goal': the axes in which its rows count, whatever the constraint says
    has_distance: bool = False  # True if it has a target distance
    one_sided: bool = False  # True for an inequality, whose row counts where it is above 0
    drawn: str = ''  # axes, cross, sphere, tube, sight or handle, see `scene.constraint_marks`
    dragged: str = ''  # 'axes': along and about its constrained axes, 'point': along all axes


KINDS: dict[str, Kind] = {
    'frame': Kind(
        'the axes of `dof` of both frames coincide', 'goal', ALL_AXES, drawn='axes', dragged='axes'
    ),
    'universal': Kind(
        "the origins coincide, and A's y axis is perpendicular to B's x axis",
        *('closure', 'X Y Z', 1),
        counted='goal',
        drawn='cross',
        dragged='axes',
    ),
    'distance': Kind(
        'the origins are `distance` apart',
        *('goal', '', 1, 1, 1),
        has_distance=True,
        drawn='sphere',
        dragged='point',
    ),
    'look_at': Kind(
        "A's z axis points at B's origin; while that is nearer than a millionth of the "
        'characteristic length, it counts as half a turn off',
        *('goal', '', 2, 2, 0),
        drawn='sight',
        dragged='point',
    ),
    'centre_of_mass': Kind(
        "the centre of mass of the link and of all links below it in the tree is at B's origin; A "
        'has the axes of the root frame',
        *('goal', 'X Y Z'),
        drawn='axes',
        dragged='axes',
    ),
    'cylinder': Kind(
        "A's origin is `distance` away from B's z axis",
        *('goal', '', 1, 1, 1, 'goal'),
        has_distance=True,
        drawn='tube',
        dragged='point',
    ),
    'user': Kind(
        'the function of a user is zero, see `user_rows`', 'user', drawn='handle', dragged='point'
    ),
    'coupling': Kind('the value of a joint is what its masters give', 'joint', ALL_AXES),
    'cone': Kind('the rotation of a joint is within its limit', 'joint', '', 1, one_sided=True),
    'avoid': Kind('bodies are not too near', 'joint', '', 6, 6, 6, one_sided=True),
}

# The numbers of the kinds in the kernels, in the order of the table; from CONE on inequalities.
(
    KIND_FRAME,
    KIND_UNIVERSAL,
    KIND_DISTANCE,
    KIND_LOOK_AT,
    KIND_MASS,
    KIND_CYLINDER,
    KIND_USER,
    KIND_COUPLING,
    KIND_CONE,
    KIND_AVOID,
) = range(len(KINDS))
