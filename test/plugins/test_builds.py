"""The CMake projects of the plugins, with stubs of ament and of the packages they need."""

import os
import shutil
import subprocess
import sys

import pytest
from support.c_programs import shared_library
from support.cpp_plugins import REPOSITORY

AMENT = """
function(ament_target_dependencies)
endfunction()
function(pluginlib_export_plugin_description_file base file)
  file(APPEND "${CMAKE_BINARY_DIR}/exported" "${base} ${file}\\n")
endfunction()
function(ament_package)
endfunction()
"""
NEEDED = (
    'ament_cmake ament_index_cpp controller_interface geometry_msgs hardware_interface '
    'kinematics_interface moveit_core moveit_msgs pluginlib rclcpp rclcpp_lifecycle '
    'realtime_tools transmission_interface'
)


@pytest.mark.parametrize(
    ('package', 'bases'),
    [
        ('ik_node_moveit', ['moveit_core']),
        (
            'ik_node_ros2_control',
            ['controller_interface', 'kinematics_interface', 'transmission_interface'],
        ),
    ],
)
def test_installed_plugin_takes_its_library_along(tmp_path, package, bases):
    """It loads a copy in its own prefix, which an update of ik_node does not remove."""
    shared_library()
    if any(shutil.which(each) is None for each in ('cmake', 'g++', 'ldd')):
        pytest.skip('no cmake, g++ or ldd')
    if package == 'ik_node_ros2_control' and not os.path.exists('/usr/share/eigen3/cmake'):
        pytest.skip('no Eigen')
    for name in NEEDED.split():
        folder = tmp_path / 'stubs' / name
        folder.mkdir(parents=True)
        (folder / f'{name}Config.cmake').write_text(AMENT if name == 'ament_cmake' else '')
    prefix, built = tmp_path / 'prefix', tmp_path / 'build'
    headers = REPOSITORY / 'test' / 'plugins' / 'stubs'
    settings = {
        'CMAKE_PREFIX_PATH': tmp_path / 'stubs',
        'CMAKE_INSTALL_PREFIX': prefix,
        'CMAKE_CXX_FLAGS': f'-I{headers} -O0',
        'CMAKE_BUILD_TYPE': 'Debug',
        'ik_node_DIR': REPOSITORY / 'ik_node' / 'native' / 'cmake',
        'Python3_EXECUTABLE': sys.executable,
    }
    given = [f'-D{name}={value}' for name, value in settings.items()]
    source = str(REPOSITORY / 'plugins' / package)
    for words in (['-S', source, '-B', str(built), *given], ['--build', str(built)]):
        run('cmake', *words)
    run('cmake', '--install', str(built))
    assert (built / 'exported').read_text().split()[::2] == bases
    loaded = run('ldd', str(prefix / 'lib' / f'lib{package}.so'))
    assert f'libik_node.so => {prefix / "lib" / package / "libik_node.so"}' in loaded.replace(
        f'{prefix}/lib/./', f'{prefix}/lib/'
    )


def run(*words):
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
