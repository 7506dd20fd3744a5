#!/usr/bin/env bash
# Set up a virtual environment from the lock files, or mend it: envs/venv.sh FOLDER [dev]
#
# PYTHON: the interpreter, in place of the newest supported one on PATH.
# TORCH=cpu: PyTorch without CUDA. An environment stays what it is until TORCH says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
with=${2:-}
PATH=${PATH//"$PWD/$venv/bin:"/} # where make looks first

stop() {
    echo "$*" >&2
    exit 1
}

is_supported() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))'; }

# Debian has ensurepip, without which no environment gets its pip, in a package of its own.
makes_environments() { "$1" -c 'import venv, ensurepip; ensurepip.version()'; }

newest_python() {
    for name in python3.13 python3.12 python3.11 python3 python; do
        if { is_supported "$name" && makes_environments "$name"; } > /dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    stop "benchc needs Python 3.11, 3.12 or 3.13 with its venv module, and PATH has none: install" \
        "one (apt install python3-venv; brew install python@3.13; uv python install 3.13), or" \
        "name one (make run PYTHON=/path/to/python3.13)"
}

version() { "$1" -c 'import sys; print(sys.version_info[:2])'; }

# As `uv venv` leaves it, or a setup that was killed early.
give_pip() { rm -f "$venv"/ready* && "$venv/bin/python" -m ensurepip; }

# Not half made, moved, or left by a Python that is gone or another than the one asked for.
is_sound() {
    [[ ! -e $venv/unfinished ]] &&
        grep -qF "$(pwd -P)/$venv" "$venv/bin/activate" &&
        is_supported "$venv/bin/python" &&
        { "$venv/bin/python" -m pip --version || give_pip; } &&
        [[ -z ${PYTHON:-} || $(version "$PYTHON") == $(version "$venv/bin/python") ]]
} > /dev/null 2>&1

install() {
    "$venv/bin/python" -m pip install --quiet --no-deps "$@" && return
    rm "$venv/unfinished" # pip has put back what was there
    return 1
}

torch=${TORCH:-$(cat "$venv/torch" 2> /dev/null || echo cuda)}
case $torch in
    cpu) lock=envs/requirements-cpu.lock size="2 GB" ;;
    cuda) lock=envs/requirements.lock size="6.5 GB on Linux, 1.6 GB on macOS" ;;
    *) stop "TORCH=$torch: cpu, or cuda (what PyPI has for this machine)" ;;
esac
sources=("$lock" pyproject.toml)
if [[ $with == dev ]]; then
    sources+=(envs/requirements-dev.lock envs/requirements-servers.txt)
fi
ready=$venv/ready${with:+-$with}
made_from=$(cksum "${sources[@]}")
if is_sound && [[ $(cat "$ready" 2> /dev/null) == "$made_from" ]]; then
    exit
fi

if ! is_sound; then
    python=${PYTHON:-$(newest_python)}
    is_supported "$python" 2> /dev/null || stop "PYTHON=$python: benchc needs Python 3.11, 3.12 or 3.13"
    if [[ -e $venv || -L $venv ]]; then
        echo "== $venv is not whole, or not of this folder and Python: making it anew"
        # Of a link to another environment, the link alone goes.
        rm -rf "${venv%/}"
    fi
    "$python" -m venv "$venv"
fi
echo "== setting up $venv with $("$venv/bin/python" --version) (a few minutes; $size)"
touch "$venv/unfinished" # stays where this is killed
if [[ $torch == cpu ]]; then
    install -r "$lock" || stop "PyTorch without CUDA comes from download.pytorch.org/whl/cpu." \
        "Where that is out of reach: PIP_FIND_LINKS=FOLDER with the wheels of torch and" \
        "torchvision in it, or TORCH=cuda for PyPI's."
else
    install -r "$lock"
fi
install -e .
if [[ $with == dev ]]; then
    install -r envs/requirements-dev.lock
    install -r envs/requirements-servers.txt
fi
echo "$torch" > "$venv/torch"
echo "$made_from" > "$ready"
rm "$venv/unfinished"
