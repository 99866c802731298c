"""
The kinds of constraints, one row for each, from which every other table of kinds follows.

A constraint has one row for each axis that it constrains, as far as its kind has `axes`, and
`more` rows besides. The equation of a kind is in `rows.residuals`, in NumPy in `model.residual`,
and on paper in docs/theory.md, section 3.
"""

from typing import NamedTuple

ALL_AXES = 'X Y Z EX EY EZ'


class Kind(NamedTuple):
    """
    What the package knows of a kind of constraint besides its equation.

    Attributes
    ----------
    use : {'goal', 'closure', 'joint', 'user'}
        Who makes it: `Robot.add_goal`, or any goal or closure by its attribute `kind`; a closure
        type, or a goal by that attribute; the reader, from limits and couplings of joints; a goal
        that brings its own residual.
    axes : str
        Axes that have a row where they are constrained; '' = its rows have no axes.
    more : int
        Number of rows besides. They stand after those of X Y Z.
    by_point : int
        How many of these are velocities of a point; the others go by angular velocity.
    in_metres : int
        How many of these count in [m]; the others count in [rad].
    counted : {'', 'goal'}
        Axes in which its rows count, whatever the constraint says; '' = as it says.
    has_distance : bool
        True if it has a target distance.
    one_sided : bool
        True for an inequality, whose row counts where it is above 0.
    drawn : {'', 'axes', 'cross', 'sphere', 'tube', 'sight', 'handle'}
        How a goal or closure is drawn; see `scene.constraint_marks`.
    dragged : {'', 'axes', 'point'}
        How a goal is dragged: along and about its constrained axes, or along all axes.

    """

    use: str
    axes: str = ''
    more: int = 0
    by_point: int = 0
    in_metres: int = 0
    counted: str = ''
    has_distance: bool = False
    one_sided: bool = False
    drawn: str = ''
    dragged: str = ''


KINDS: dict[str, Kind] = {
    'frame': Kind('goal', ALL_AXES, drawn='axes', dragged='axes'),
    'universal': Kind('closure', 'X Y Z', 1, counted='goal', drawn='cross', dragged='axes'),
    'distance': Kind('goal', '', 1, 1, 1, has_distance=True, drawn='sphere', dragged='point'),
    'look_at': Kind('goal', '', 2, 2, 0, drawn='sight', dragged='point'),
    'centre_of_mass': Kind('goal', 'X Y Z', drawn='axes', dragged='axes'),
    'cylinder': Kind(
        'goal', '', 1, 1, 1, 'goal', has_distance=True, drawn='tube', dragged='point'
    ),
    # Rows of a function of its user, see `user_rows`.
    'user': Kind('user', drawn='handle', dragged='point'),
    # The value of a joint less what its masters give; it has no frames.
    'coupling': Kind('joint', ALL_AXES),
    # The limit of a rotation.
    'cone': Kind('joint', '', 1, one_sided=True),
    # Distances of pairs of bodies; a row counts where a pair is too near.
    'avoid': Kind('joint', '', 6, 6, 6, one_sided=True),
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
