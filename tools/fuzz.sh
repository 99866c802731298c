#!/bin/sh
# Feed the readers of descriptions with what atheris makes of their seeds.
#   tools/fuzz.sh [RUNS=10000] [DIALECT ...]      DIALECT: a file of test/fuzz/seeds; none = all
set -eu
cd "$(dirname "$0")/.."
runs=${1:-10000}
[ $# -eq 0 ] || shift
tools/setup.sh
folder=.venvs/atheris
if [ ! -d $folder ]; then
    # Beside the environment, not in it: only this target needs it, and not every Python has it.
    "${IK_NODE_VENV:-.venv}/bin/python" -m pip install --quiet --disable-pip-version-check \
        --target $folder atheris
fi
[ $# -gt 0 ] || set -- $(ls test/fuzz/seeds)
for dialect in "$@"; do
    echo "== $dialect"
    tools/run python test/fuzz/drill_fuzz.py "$dialect" "$runs" 2>&1 | grep -v -e '^INFO' -e '^WARNING: Failed to find' -e '^###' -e ' # Uses: ' || true
done
broken=$(ls test/fuzz/failures | grep -c -e -crash- -e -timeout- -e -oom- || true)
echo "$broken inputs in test/fuzz/failures break a reader"
[ "$broken" -eq 0 ]
