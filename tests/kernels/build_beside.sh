#!/usr/bin/env bash
# A second environment, build/NAME, with this package and with kernels that are built with an option of CMakeLists.txt:
#
#     bash tests/kernels/build_beside.sh checked CC_CHECK
#
# What the package needs is taken from .venv, through a .pth file. Neither .venv nor src is written, so both builds can
# be used side by side; later calls build again what has changed.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$1
option=$2

packages_of() {
    "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

test -d "build/$name" || .venv/bin/python -m venv --without-pip "build/$name"
packages_of .venv/bin/python > "$(packages_of "build/$name/bin/python")/dependencies.pth"
.venv/bin/python -m pip --python "build/$name/bin/python" install --quiet --disable-pip-version-check --no-compile \
    --no-build-isolation --no-deps --force-reinstall \
    --config-settings=build-dir="build/$name/kernels" --config-settings=install.strip=false \
    --config-settings=cmake.define."$option"=ON .
