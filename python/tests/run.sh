#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one file of the package's tests on the package of a build, or prints why not (exit status 77).
# usage: run.sh SOURCE BUILD PYTHON FILE.py [MODULE...]    MODULE: what has to be there beside numpy
# GRAFT_TEST_PYTHON, where it is set, is the Python to use: one that has torch and transformers, say. Else it is PYTHON or
# the system's, whichever has the modules.
set -eu
source=$1
build=$2
pythons=${GRAFT_TEST_PYTHON:-$3 /usr/bin/python3}
file=$4
shift 4
modules=$(echo numpy "$@" | tr ' ' ',')
python=
for each in $pythons; do
    if [ -z "$python" ] && "$each" -c "import $modules" 2>/dev/null; then
        python=$each
    fi
done
if [ -z "$python" ]; then
    echo "skipped: no Python with $modules among: $pythons (GRAFT_TEST_PYTHON names another one)"
    exit 77
fi
export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
export GRAFT_PLUGINS_DIR="$build/plugins" GRAFT_TEST_GOLDENS="$build/tests/goldens/models" GRAFT_TEST_BUILD="$build"
cd "$source/python/tests"
exec "$python" -W error::ResourceWarning -m unittest -v "${file%.py}"
