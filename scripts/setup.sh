#!/bin/sh
# Sets up .venv for `runtime` or `dev`: makes it where it is absent or broken, installs what changed, else ends at once.
set -eu

cd "$(dirname "$0")/.."
kind=${1:-runtime}
case $kind in
runtime) requirements=requirements.txt ;;
dev) requirements=requirements-dev.txt ;;
*)
    echo "usage: scripts/setup.sh runtime|dev" >&2
    exit 2
    ;;
esac

python=.venv/bin/python
fingerprint=$(cat requirements.txt requirements-dev.txt constraints.txt | cksum)

works() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

installed() { # the stamp of a kind: line 1 what was installed, line 2 where
    [ -f ".venv/.installed-$1" ] && [ "$(cat ".venv/.installed-$1")" = "$(printf '%s\n%s' "$fingerprint" "$PWD")" ]
}

moved() { # the scripts of an environment carry its path, so one that was moved or copied is of no use
    for stamp in .venv/.installed-*; do
        if [ -f "$stamp" ] && [ "$(sed -n 2p "$stamp")" != "$PWD" ]; then return 0; fi
    done
    return 1
}

find_python() {
    for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        if works "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    echo "Python 3.11 or newer was not found. Install it, or name it: PYTHON=/path/to/python3 make ..." >&2
    exit 1
}

make_environment() {
    base=$(find_python)
    echo "Making .venv with $("$base" --version)" >&2
    rm -rf .venv
    if command -v uv >/dev/null 2>&1 && uv venv --quiet --python "$base" .venv; then return; fi
    rm -rf .venv
    if "$base" -m venv .venv; then return; fi
    rm -rf .venv
    echo "Python cannot make an environment here. On Debian or Ubuntu: apt-get install python3-venv" >&2
    exit 1
}

install_packages() {
    if command -v uv >/dev/null 2>&1; then
        if uv pip install --quiet --python $python --requirement "$requirements"; then return; fi
        echo "uv could not install them; trying pip" >&2
    fi
    $python -m pip --version >/dev/null 2>&1 || $python -m ensurepip --upgrade >/dev/null
    $python -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
}

if works $python && ! moved; then
    if installed "$kind" || installed dev; then exit 0; fi
else
    make_environment
fi
echo "Installing the packages of $requirements (once; this takes a minute or two)" >&2
install_packages
printf '%s\n%s\n' "$fingerprint" "$PWD" >".venv/.installed-$kind"
