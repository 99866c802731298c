#!/bin/sh
# Build the library of compiled kernels with many versions of Numba and Python, each in an
# environment of its own, and solve with it in an environment without Numba. The answers are printed
# with all their digits: they may differ in the last ones, because each Numba brings its own LLVM.
#
#   tools/native_all.sh [PYTHON:NUMBA ...]
set -eu
cd "$(dirname "$0")/.."
unset PYTHONPATH
[ $# -gt 0 ] || set -- 3.10:0.58.1 3.11:0.58.1 3.11:0.59.1 3.12:0.59.1 3.12:0.60.0 3.12:0.61.2 \
    3.13:0.61.2 3.10: 3.11: 3.12: 3.13:
failed=0
for pair; do
    python=python${pair%%:*} numba=${pair#*:}
    "$python" -c '' 2>/dev/null || { echo "$pair: no $python here"; continue; }
    made=$(mktemp -d)
    "$python" -m venv "$made/build"
    "$made/build/bin/pip" --quiet --disable-pip-version-check install "numba${numba:+==$numba}" \
        pyyaml scipy tqdm
    tar c --dereference --exclude lib --exclude __pycache__ ik_node urdf | tar x -C "$made"
    begin=$(date +%s)
    if (cd "$made" && build/bin/python -m ik_node warm 2>log >/dev/null) &&
        "$made/build/bin/pip" --quiet --disable-pip-version-check uninstall -y numba llvmlite >/dev/null &&
        answer=$(cd "$made" && build/bin/python -W error -c '
import ik_node, numpy
from ik_node.native.library import library
solver = ik_node.Solver(ik_node.load_robot("urdf/hexapod.urdf"))
solution = solver.solve_pose({"platform_link": ((0.01, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0))})
way = "call.c" if library().call else "ctypes"
print("NumPy", numpy.__version__, way, solution.status.name, repr(float(solution.q[8])))'); then
        echo "$pair: $answer, $(($(date +%s) - begin)) s"
    else
        echo "$pair: failed"
        cat "$made/log"
        failed=1
    fi
    rm -rf "$made"
done
exit $failed
