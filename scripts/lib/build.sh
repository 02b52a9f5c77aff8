# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Sourced: builds into a folder, quietly as long as it works.

# build DIRECTORY [MESON-OPTION]...: configures it, with these options, if it is not configured yet, and compiles
# what has changed. Where it fails, says so with the end of the output.
build() {
    directory=$1
    shift
    mkdir -p "$directory"
    build_log=$directory/build.log
    : >"$build_log"
    [ -f "$directory/build.ninja" ] || logged meson setup "$@" "$directory" || return 1
    logged ninja -C "$directory"
}

logged() {
    "$@" >>"$build_log" 2>&1 && return 0
    tail -n 40 "$build_log" >&2
    printf "'%s' failed (above); the whole output is in %s\n" "$*" "$build_log" >&2
    return 1
}
