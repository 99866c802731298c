"""Every fault in faults.txt is refused with its line; all in notes.txt is read with its note."""

from pathlib import Path
import re

from ik_node.description.read import read_description
from ik_node.description.visuals import visuals_of
from ik_node.errors import DescriptionError, IkError, TopologyError, UnsupportedElementError
from ik_node.model.rotation import pose_matrix
import numpy as np
import pytest

TYPES = {'': DescriptionError, '!': UnsupportedElementError, 'T': TopologyError}


def sections(name):
    """Return the sections of a file as parameters of a test."""
    _, *found = (Path(__file__).parent / name).read_text().split('\n== ')
    return [pytest.param(each, id=each.partition('\n')[0]) for each in found]


def rows(section):
    """Yield each row, its first two parts, the description and the annotations of the row."""
    title, base, *found = section.rstrip().replace('\\n', '\r').split('\n')
    for row in found:
        row = row.replace('\r', '\n')
        first, second, text = re.fullmatch(r'(.*?) \| (.*?) \| ?(.*)', row, re.DOTALL).groups()
        base = base.replace('\r', '\n')
        old, change, new = text.partition(' => ')
        source = base.replace(old, new, 1) if change else base.replace('@', text)
        annotated = title.endswith(' closures')
        yield row, first, second, base if annotated else source, text if annotated else None


@pytest.mark.parametrize('section', sections('faults.txt'))
def test_faults_are_refused_with_their_lines_and_names(section):
    """The type of each error is exact, and its message names what was found."""
    for row, where, names, source, closures in rows(section):
        line = where.rstrip('!T')
        with pytest.raises(IkError) as caught:
            read_description(source, closures=closures)
        assert type(caught.value) is TYPES[where[len(line) :]], row
        assert str(getattr(caught.value, 'line', None) or '-') == line, row
        assert [name for name in names.split() if name not in str(caught.value)] == [], row


def placed(pose):
    """Return a pose as text: its position, and the directions of x and z if it is turned."""
    parts = [pose[:3, 3], pose[:3, 0], pose[:3, 2]][
        : 1 if np.allclose(pose[:3, :3], np.eye(3)) else 3
    ]
    return '/'.join(','.join(f'{round(x, 4) + 0.0:g}' for x in part) for part in parts)


def moved(description):
    """Return every link but the first, with its pose where all joint values are 0.3."""
    for joint in description.joint_order:
        for dof in () if joint.couplings else joint.dof:
            joint.set_dof_value(dof, 0.3)
    return [f'{name}:{placed(link.matrix_world)}' for name, link in description.links.items()][1:]


def loop(closure):
    """Return a closure with its links, and its frames in them."""
    frames = (
        pose_matrix(closure.offset_position, closure.offset_quaternion),
        pose_matrix(closure.position, closure.quaternion),
    )
    kind = '' if closure.kind == 'frame' else f':{closure.kind}{closure.distance or ""}'
    ends = f'{closure.child.name}>{closure.parent.name}'
    return f'{closure.name}:{ends}:{placed(frames[0])}>{placed(frames[1])}{kind}'


def drawn(visual):
    """Return a visual with its link, kind, sizes, pose, and its file and colour if it has some."""
    pose = placed(pose_matrix(visual.position, visual.quat_xyzw))
    parts = [visual.link, visual.kind, '/'.join(f'{x:g}' for x in visual.size), pose, visual.file]
    return ':'.join([*parts, '/'.join(f'{x:g}' for x in visual.rgba or ())])


def facts(description):
    """Return what a row of notes.txt can state, each a text."""
    joints, closures = description.joints.values(), description.closures.values()
    rules = [(joint, rule) for joint in joints for rule in joint.couplings.values()]
    values = [(joint, dof) for joint in joints for dof in joint.dof]
    lists = {
        'name': [description.name],
        'dialect': [description.dialect.replace(' ', '')],
        'links': description.links,
        'joints': description.joints,
        'closures': description.closures,
        'roots': [root.name for root in description.roots],
        'actuated': description.actuated,
        'dof': [f'{joint.name}:{",".join(dof.name for dof in joint.dof)}' for joint in joints],
        'rows': [f'{closure.name}:{len(closure.dof)}' for closure in closures],
        'axes': [
            f'{closure.name}:{".".join(dof.name for dof in closure.dof)}' for closure in closures
        ],
        'loops': map(loop, closures),
        'options': [f'{c.name}:{c.tolerance}:{c.weight:g}'.replace(' ', '') for c in closures],
        'disabled': [closure.name for closure in closures if not closure.enabled],
        'followers': [
            f'{joint.name}<{rule.master.name}:'
            + ','.join(f'{each:g}' for each in rule.coefficients)
            for joint, rule in rules
        ],
        'limits': [
            f'{joint.name}:{joint.min_dof_limit[dof]:g}..{joint.max_dof_limit[dof]:g}'
            for joint, dof in values
        ],
        'velocity': [f'{joint.name}:{joint.max_velocity[dof]:g}' for joint, dof in values],
        'effort': [f'{joint.name}:{joint.max_effort[dof]:g}' for joint, dof in values],
        'masses': [f'{name}:{link.mass:g}' for name, link in description.links.items()],
        'centres': [
            f'{name}:' + '/'.join(f'{x:g}' for x in link.centre_of_mass)
            for name, link in description.links.items()
        ],
        'start': [f'{joint.name}:{joint.get_dof_value(dof):g}' for joint, dof in values],
        'turn': [f'{joint.name}:{joint.max_turn:g}' for joint in joints],
        'visuals': map(drawn, visuals_of(description)),
        'poses': moved(description),
        'notes': [str(len(description.notes))],
    }
    return {name: ','.join(found).replace(' ', '_') for name, found in lists.items()}


def has(note, words):
    """Return whether a note has these words, and not those with an exclamation mark."""
    return all((word.lstrip('!') in note) != word.startswith('!') for word in words.split())


@pytest.mark.parametrize('section', sections('notes.txt'))
def test_unusual_content_is_read_and_noted(section):
    """What was found is named in a note, or there is none where nothing is unusual."""
    for row, stated, words, source, closures in rows(section):
        description = read_description(source, closures=closures)
        found = facts(description)
        for name, _, wanted in (fact.partition('=') for fact in stated.split() if fact != '-'):
            assert found[name] == wanted, row
        if words == '-':
            assert description.notes == [], row
        elif words != '*':
            for of_one in words.split(' & '):
                assert any(has(note, of_one) for note in description.notes), row
