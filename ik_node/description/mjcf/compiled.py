"""MuJoCo's own reading of an MJCF, where the package is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.parts import Mjcf, MjcfFollow, MjcfJoint, MjcfTie
import numpy as np

POSE = ('pos', 'quat', 'axisangle', 'xyaxes', 'zaxis', 'euler')
# What is given to the compiler: nothing that needs a file, and nothing about dynamics.
KEPT = {
    'compiler': ('angle', 'eulerseq', 'autolimits'),
    'default': ('class',),
    'body': ('name', 'childclass', *POSE),
    'frame': ('childclass', *POSE),
    'joint': ('name', 'class', 'type', 'pos', 'axis', 'ref', 'range', 'limited'),
    'freejoint': ('name',),
    'site': ('name', 'class', 'type', 'size', 'fromto', *POSE),
    'equality': ('active',),
    'connect': ('name', 'class', 'active', 'body1', 'body2', 'anchor', 'site1', 'site2'),
    'weld': (
        *('name', 'class', 'active', 'body1', 'body2', 'anchor', 'site1', 'site2'),
        *('relpose', 'torquescale'),
    ),
}
FOLLOW = ('name', 'class', 'active', 'joint1', 'joint2', 'polycoef')
MAX_BODIES = 1000


def compile_over(document: MjcfDocument, model: Mjcf, notes: list[str]) -> str | None:
    """
    Have MuJoCo compile the kinematics of a file, and put its numbers in place of ours.

    Parameters
    ----------
    document : MjcfDocument
        Already read without a fault, so that the compiler meets finite numbers only.
    model : Mjcf
        What was read; changed.
    notes : list of str
        Why the compiler's reading is not used is appended.

    Returns
    -------
    str or None
        MuJoCo's version, None where its reading is not used.

    """
    if find_spec('mujoco') is None:
        return None
    if len(model.bodies) > MAX_BODIES:
        notes.append(f'more than {MAX_BODIES} bodies: read without MuJoCo')
        return None
    compiled = _compile(strip(document), notes)
    if compiled is None:
        return None
    if not _is_same_tree(compiled, model):
        notes.append('MuJoCo counts other bodies and joints in it; read without MuJoCo')
        return None
    import mujoco

    _put_bodies(compiled, model)
    _put_equalities(compiled, model)
    return str(mujoco.__version__)


def strip(document: MjcfDocument) -> str:
    """Return the kinematics of an MJCF: a text that needs no other file."""
    root = Element('mujoco')
    for section in document.root:
        if section.tag == 'compiler':
            _copy(section, root)
        elif section.tag == 'default':
            _copy_class(section, root, is_outer=True)
        elif section.tag == 'worldbody':
            _copy_body(section, SubElement(root, 'worldbody'))
        elif section.tag == 'equality':
            made = SubElement(root, 'equality')
            for child in section:
                if child.tag == 'joint':
                    _copy(child, made, FOLLOW)
                elif child.tag in ('connect', 'weld'):
                    _copy(child, made)
    return tostring(root, encoding='unicode')


def _copy(element: Element, parent: Element, names: tuple[str, ...] | None = None) -> Element:
    wanted = KEPT[element.tag] if names is None else names
    attributes = {name: element.attrib[name] for name in wanted if name in element.attrib}
    return SubElement(parent, element.tag, attributes)


def _copy_class(section: Element, parent: Element, is_outer: bool = False) -> None:
    made = _copy(section, parent, () if is_outer and section.get('class') == 'main' else None)
    for child in section:
        if child.tag in ('joint', 'site', 'equality'):
            _copy(child, made)
        elif child.tag == 'default':
            _copy_class(child, made)


def _copy_body(element: Element, made: Element) -> None:
    if element.tag == 'body':  # any mass will do; the tensor of inertia is not read
        SubElement(made, 'inertial', {'pos': '0 0 0', 'mass': '1', 'diaginertia': '1 1 1'})
    for child in element:
        if child.tag in ('body', 'frame'):
            _copy_body(child, _copy(child, made))
        elif child.tag in ('joint', 'freejoint', 'site'):
            _copy(child, made)


def _compile(text: str, notes: list[str]) -> Any:
    """Return the compiled model; None where MuJoCo refuses it."""
    import mujoco  # slow to import

    warned: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warned.append)  # else it writes a file where the program runs
    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        said = ' '.join(str(error).split())
        notes.append(f'MuJoCo {mujoco.__version__} refuses it ({said[:300]}); read without MuJoCo')
        return None
    finally:
        mujoco.set_mju_user_warning(before)


def _is_same_tree(compiled: Any, model: Mjcf) -> bool:
    bodies, joints = model.bodies, model.joints
    counts = (len(bodies), len(joints), len(model.equalities))
    if (compiled.nbody, compiled.njnt, compiled.neq) != counts:
        return False
    owners = [index for index, body in enumerate(bodies) for _ in body.joints]
    return (
        [body.parent for body in bodies] == compiled.body_parentid.tolist()
        and owners == compiled.jnt_bodyid.tolist()
        and all(compiled.body(i).name in ('', body.name) for i, body in enumerate(bodies))
        and all(compiled.joint(i).name in ('', joint.name) for i, joint in enumerate(joints))
    )


def _put_bodies(compiled: Any, model: Mjcf) -> None:
    for index, body in enumerate(model.bodies):
        body.position = np.array(compiled.body_pos[index])
        body.quat_xyzw = _xyzw(compiled.body_quat[index])
        for site in body.sites:
            found = compiled.site(site.name)
            site.position, site.quat_xyzw = np.array(found.pos), _xyzw(found.quat)
    for index, joint in enumerate(model.joints):
        if joint.kind != 'free':
            joint.position = np.array(compiled.jnt_pos[index])
            _put_motion(compiled, index, joint)


def _put_motion(compiled: Any, index: int, joint: MjcfJoint) -> None:
    if joint.kind == 'ball':
        return
    joint.axis = np.array(compiled.jnt_axis[index])
    joint.ref = float(compiled.qpos0[compiled.jnt_qposadr[index]])
    joint.lower, joint.upper = -np.inf, np.inf
    if compiled.jnt_limited[index]:
        joint.lower, joint.upper = compiled.jnt_range[index].tolist()


def _put_equalities(compiled: Any, model: Mjcf) -> None:
    for index, equality in enumerate(model.equalities):
        data = compiled.eq_data[index]
        equality.enabled = bool(compiled.eq_active0[index])
        if isinstance(equality, MjcfFollow):
            equality.coefficients = data[:5].tolist()
        else:
            _put_tie(compiled, index, equality)


def _put_tie(compiled: Any, index: int, tie: MjcfTie) -> None:
    import mujoco

    first, second = int(compiled.eq_obj1id[index]), int(compiled.eq_obj2id[index])
    data = compiled.eq_data[index]
    if compiled.eq_objtype[index] == mujoco.mjtObj.mjOBJ_SITE:
        ends = (first, second)
        tie.bodies = (int(compiled.site_bodyid[first]), int(compiled.site_bodyid[second]))
        tie.positions = [np.array(compiled.site_pos[end]) for end in ends]
        tie.quats_xyzw = [_xyzw(compiled.site_quat[end]) for end in ends]
        return
    tie.bodies = (first, second)
    if compiled.eq_type[index] == mujoco.mjtEq.mjEQ_WELD:  # data: in body 2, in body 1, turned by
        tie.positions = [np.array(data[3:6]), np.array(data[:3])]
        tie.quats_xyzw[0] = _xyzw(data[6:10])
    else:
        tie.positions = [np.array(data[:3]), np.array(data[3:6])]


def _xyzw(quat: Any) -> Any:
    return np.array((quat[1], quat[2], quat[3], quat[0]))
