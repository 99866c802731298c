"""Install ik_node the ament_python way."""

from glob import glob

from setuptools import find_packages, setup

NAME = 'ik_node'
SHARED_FOLDERS = ('launch', 'config', 'urdf')

setup(
    name=NAME,
    version='0.1.0',
    packages=[NAME, *(f'{NAME}.{package}' for package in find_packages(NAME))],
    package_data={NAME: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        *((f'share/{NAME}/{folder}', glob(f'{folder}/*.*')) for folder in SHARED_FOLDERS),
    ],
    install_requires=['numpy', 'scipy', 'pyyaml', 'tqdm'],
    extras_require={
        'fast': ['numba'],
        'plot': ['matplotlib'],
        'viewer': ['viser', 'trimesh'],
        'xacro': ['xacro'],
        'test': ['pytest', 'pytest-timeout', 'hypothesis', 'urdf_parser_py'],
    },
    python_requires='>=3.10',
    # The compiled kernels are cached beside their sources: those must be files.
    zip_safe=False,
    author='The ik_node maintainers',
    author_email='maintainers@ik-node.example',
    maintainer='The ik_node maintainers',
    maintainer_email='maintainers@ik-node.example',
    description='Inverse kinematics for robots with closed loops, as a ROS 2 node and a library.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': ['ik_node = ik_node.ros.main:main', 'ik = ik_node.cli.main:main']
    },
)
