"""Writers of solved motions: NPZ, and a bag of ROS 2."""

from __future__ import annotations

from pathlib import Path
import shutil
from typing import Any

from ik_node.errors import DescriptionError, OptionError
from ik_node.mechanism import Mechanism
from ik_node.solver.batch.batch_solution import PathSolution
from ik_node.whole_file import part_of
import numpy as np

JOINT_STATES, DESCRIPTION = '/joint_states', '/robot_description'
# Version of the bag's metadata: the one that ROS 2 Jazzy and later write.
BAG_VERSION = 9
NANOSECONDS = 1_000_000_000


def free_output(option: str, path: Path, *, overwrite: bool) -> None:
    """
    Check that an output can be written, and remove what is there if it may be replaced.

    A folder is replaced only if it is a bag. OptionError about `option` is raised if the path
    exists and may not be replaced.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
    elif path.is_dir() and overwrite and (path / 'metadata.yaml').is_file():
        shutil.rmtree(path)
    elif path.is_dir() or not overwrite:
        raise OptionError(option, str(path), 'a path that does not exist, or --overwrite')


def write_npz(path: Path, robot: Mechanism, solved: PathSolution) -> None:
    """
    Write a solved motion as arrays.

    The file has joint_names (nq,), times (N,) [s], q and velocity (N, nq) [rad or m, per s],
    status (N,), which is a number of `Status`, and NAME.error (N, 2) [m, rad] of each goal.
    """
    errors: dict[str, Any] = {
        f'{name}.error': np.column_stack((error.position, error.orientation))
        for name, error in solved.goal_errors.items()
    }
    np.savez_compressed(
        path,
        joint_names=np.array(robot.joint_names),
        times=solved.times,
        q=solved.q,
        velocity=solved.velocity,
        status=solved.status,
        **errors,
    )


def write_bag(path: Path, robot: Mechanism, solved: PathSolution) -> None:
    """
    Write a solved motion as a bag of ROS 2 in MCAP format.

    The bag has a sensor_msgs/JointState with positions and velocities for every frame on
    /joint_states, and the URDF with its loops, latched, on /robot_description. OptionError is
    raised if the package rosbags is missing, DescriptionError if the bag cannot be written.
    """
    try:
        from rosbags import interfaces
        from rosbags.rosbag2 import StoragePlugin, Writer, WriterError
        from rosbags.typesys import get_typestore, Stores
    except ImportError:
        allowed = "only with rosbags: `pip install 'ik_node[motion]'`"
        raise OptionError('--bag', str(path), allowed) from None
    types = get_typestore(Stores.ROS2_JAZZY)
    time_of = types.types['builtin_interfaces/msg/Time']
    header_of = types.types['std_msgs/msg/Header']
    state_of = types.types['sensor_msgs/msg/JointState']
    text_of = types.types['std_msgs/msg/String']
    forever = interfaces.QosTime(2**31 - 1, 2**32 - 1)
    latched = interfaces.Qos(
        interfaces.QosHistory.KEEP_LAST,
        1,
        interfaces.QosReliability.RELIABLE,
        interfaces.QosDurability.TRANSIENT_LOCAL,
        forever,
        forever,
        interfaces.QosLiveliness.AUTOMATIC,
        forever,
        avoid_ros_namespace_conventions=False,
    )

    def add(bag: Any, connection: Any, time: int, message: Any) -> None:
        bag.write(connection, time, types.serialize_cdr(message, message.__msgtype__))

    # The files in a bag have its name, so that the part is a folder with the bag in it.
    folder = part_of(path)
    part = folder / path.name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        with Writer(
            folder / path.name, version=BAG_VERSION, storage_plugin=StoragePlugin.MCAP
        ) as bag:
            described = bag.add_connection(
                DESCRIPTION, text_of.__msgtype__, typestore=types, offered_qos_profiles=[latched]
            )
            states = bag.add_connection(JOINT_STATES, state_of.__msgtype__, typestore=types)
            ticks = np.rint(solved.times * NANOSECONDS).astype(np.int64).tolist()
            add(bag, described, ticks[0], text_of(robot.to_urdf()))
            for time, q, velocity in zip(ticks, solved.q, solved.velocity, strict=True):
                header = header_of(time_of(time // NANOSECONDS, time % NANOSECONDS), '')
                state = state_of(header, robot.joint_names, q, velocity, np.zeros(0))
                add(bag, states, time, state)
        part.rename(path)
    except (WriterError, OSError) as error:
        raise DescriptionError(f'the bag cannot be written: {error}', source=str(path)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
