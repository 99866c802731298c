#!/bin/sh
# Build the documentation site in build/docs and run the notebooks of its tutorials. A warning of
# Sphinx, such as a link to nowhere, is an error. The environment below .venvs is made once.
set -eu
cd "$(dirname "$0")/.."
python=$(cat "${IK_NODE_VENV:-.venv}/made-by")
minor=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
lock=requirements/docs.txt venv=.venvs/docs
key="$PWD $(cksum <"$lock") $minor"
unset PYTHONPATH LD_LIBRARY_PATH
if [ "$key" != "$(cat $venv/made-with 2>/dev/null)" ]; then
    echo "Setting up $venv: Python $minor, from $lock (once) ..."
    rm -rf $venv
    mkdir -p .venvs
    "$python" -m venv $venv
    tools/install.sh $venv "$lock" >$venv/setup.log 2>&1 || { cat $venv/setup.log >&2 && exit 1; }
    echo "$key" >$venv/made-with
fi
$venv/bin/python -m sphinx -b html -q -W --keep-going docs build/docs
$venv/bin/python -m tools.documentation.notebooks build/docs/notebooks --run
echo "build/docs/index.html"
