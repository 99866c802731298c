"""Nearly valid texts, and the properties of every reader's result."""

import re

from hypothesis import strategies as st
from ik_node.errors import IkError
import numpy as np

TOKEN = re.compile(r'[\w.-]+|\s+|[^\w\s]')


def tokens_of(text):
    return sorted(set(TOKEN.findall(text)))


def mutated(seed, odd, most=6):
    """Return a strategy of texts in which some tokens are replaced, dropped or doubled."""
    tokens = TOKEN.findall(seed)
    change = st.tuples(
        st.integers(0, len(tokens) - 1),
        st.sampled_from(odd),
        st.sampled_from(['replace', 'drop', 'double']),
    )

    def apply(changes):
        made = list(tokens)
        for place, other, how in changes:
            made[place] = {'replace': other, 'drop': '', 'double': made[place] + other}[how]
        return ''.join(made)

    return st.lists(change, min_size=1, max_size=most).map(apply)


def check(read, *source, longest=2000, **options):
    try:
        description = read(*source, **options)
    except IkError as error:
        description, message = None, str(error)
    else:
        message = 'read'
        inspect(description)
    assert 0 < len(message) < longest
    return description


def inspect(description):
    for link in description.links.values():
        assert np.isfinite(link.matrix_world).all()
        assert np.isfinite(link.centre_of_mass).all()
        assert 0.0 <= link.mass < np.inf
    for joint in description.joint_order:
        assert (joint.min_dof_limit <= joint.dof_values).all()
        assert (joint.dof_values <= joint.max_dof_limit).all()
        assert (joint.max_velocity > 0.0).all()
        assert (joint.max_effort > 0.0).all()
    for closure in description.closures.values():
        assert np.isfinite(closure.get_residual()).all()
    for name in description.actuated:  # of a joint, or of one of its values: NAME.EZ
        joint = description.joints.get(name) or description.joints[name.rpartition('.')[0]]
        assert joint.dof
