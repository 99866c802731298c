#!/bin/sh
# Install what `tools/dist.sh` left in dist/ as users do, in empty environments, and move the hexapod.
#
#   tools/try_dist.sh [kilted|jazzy]      the Python is $PYTHON, else python3
#
# 1. The wheel and ROS 2 from wheels, by pip. 2. The sdist, unpacked in the folder src of an empty
# workspace, by colcon. The node, the publisher of the description and the client that sends goals
# run from an empty folder and see nothing of this checkout.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
distro=${1:-kilted} python=${PYTHON:-python3}
unset PYTHONPATH AMENT_PREFIX_PATH LD_LIBRARY_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
minor=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_LOG_DIR="$work/log" XDG_CACHE_HOME="$work/cache"
export ROS_DOMAIN_ID="${ROS_DOMAIN_ID:-$((1 + $$ % 101))}" PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir "$work/empty" "$work/ws" "$work/ws/src"
cd "$work/empty"

echo "== wheel, $python, $distro"
"$python" -m venv "$work/wheel"
grep '^ros-' "$root/requirements/$distro.in" | grep -v ament >"$work/ros.txt"
"$work/wheel/bin/python" -m pip install -q "$root"/dist/*-"$tag"-*_"$(uname -m)".whl -r "$work/ros.txt"
[ -z "$("$work/wheel/bin/python" -m pip list 2>/dev/null | grep -i numba)" ] # nothing to compile with
"$work/wheel/bin/ik_node" demo hexapod --seconds 5

echo "== sdist, colcon, $python, $distro"
"$python" -m venv "$work/colcon"
"$work/colcon/bin/python" -m pip install -q --require-hashes --no-deps --only-binary :all: \
    -r "$root/requirements/$distro.txt" 2>"$work/pip.txt" ||
    "$work/colcon/bin/python" -m pip install -q --require-hashes --no-deps -r "$root/requirements/$distro.txt"
tar xzf "$root"/dist/ik_node-*.tar.gz -C "$work/ws/src"
cd "$work/ws"
export PATH="$work/colcon/bin:$PATH" AMENT_PREFIX_PATH="$work/colcon"
colcon --log-base log build --packages-select ik_node
set +u
. install/local_setup.sh
set -u
cd "$work/empty"
ros_program=$work/ws/install/ik_node/lib/ik_node/ik_node # what `ros2 run ik_node ik_node` starts
"$work/colcon/bin/python" "$ros_program" demo hexapod --seconds 5
"$work/colcon/bin/python" -c 'import ik_node; print(ik_node.__file__)' | grep "$work/ws/install"
