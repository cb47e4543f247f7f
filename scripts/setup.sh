# Sourced by the other scripts: `setup EXTRA` makes .venv at the top of the project and installs the project with an
# extra of pyproject.toml into it. The second time, with nothing changed, it does nothing.

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail "no Python 3.11, 3.12 or 3.13 found: install one (Debian: apt install python3 python3-venv)," \
        "or name it: PYTHON=/path/to/python3.12 $0"
}

setup() {
    local extra=$1 stamp wanted python
    [ "$(uname -sm)" = "Linux x86_64" ] || printf 'warning: tried on Linux x86-64 only\n' >&2
    stamp=.venv/installed-$extra
    wanted=$(cksum <pyproject.toml)
    if [ -x .venv/bin/ctm ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    if [ ! -x .venv/bin/python ]; then
        python=$(find_python) || exit 1
        printf 'setting up .venv with %s\n' "$python" >&2
        "$python" -m venv .venv || {
            rm -rf .venv
            fail "$python cannot make a virtual environment: install its venv module" \
                "(Debian: apt install python3-venv), or name another Python: PYTHON=/path/to/python3 $0"
        }
    fi
    printf 'installing what "%s" needs from PyPI (once)\n' "$extra" >&2
    # Python translates what is imported then. All of it would take a minute.
    .venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable ".[$extra]" >&2 ||
        fail "pip could not install the project: is PyPI reachable? (see above)"
    printf '%s' "$wanted" >"$stamp"
}
