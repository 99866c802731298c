#!/bin/sh
# Build wheels with the library of compiled kernels into dist/, for every Python from 3.10 to 3.13
# that is found and for each target:
#
#   tools/wheels.sh [x86_64] [aarch64]
#
# For another kind of processor this needs its C compiler (gcc-aarch64-linux-gnu, or ziglang).
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- x86_64 aarch64
unset PYTHONPATH
for python in python3.10 python3.11 python3.12 python3.13; do
    "$python" -c '' 2>/dev/null || continue
    tools=$(mktemp -d)
    "$python" -m venv "$tools"
    for target; do
        echo "== $python, $target"
        # What an earlier wheel left there would be packed again.
        rm -rf build
        IK_NODE_TARGETS=$target "$tools/bin/pip" --disable-pip-version-check wheel --quiet \
            --no-deps --wheel-dir dist .
    done
    rm -rf "$tools" build
done
ls -l dist/*.whl
