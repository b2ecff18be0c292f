#!/bin/bash
# Applies the patch in the ways that SWE-Bench tries with git, each on a clean tree, restores the
# base's files where the patch could tamper with the test results, and runs the evaluation script.
# What git refuses (paths in `.git`, or beyond a link) is not retried with GNU patch. With the
# argument `init`, makes the files a repository first. The exit code is that of the tests, or one
# of swe-bench-scripts.ts.
# All output goes to one stream, because `set -x` prints the markers to stderr, and the tests print
# their results between them to stdout.
exec 2>&1
cd /testbed || exit 98
export GIT_CONFIG_GLOBAL=/tmp/.gitconfig
git config --global --add safe.directory /testbed
git config --global user.email agent@localhost
git config --global user.name agent
git config --global core.hooksPath /dev/null
if [ "$1" = init ]; then
  { git init -q . && git add -A -f && git commit -q -m base; } || exit 98
fi
if [ -s /verify/patch.diff ]; then
  clean() { git reset -q --hard HEAD && git clean -fdq; }
  git apply --verbose /verify/patch.diff \
    || { clean; git apply --verbose --3way /verify/patch.diff; } \
    || { clean; git apply --verbose --reject /verify/patch.diff; } \
    || exit 97
  # Restores the base's file, or removes the path if the base has none, whatever is at the path or
  # above it.
  restore() {
    local above=$1
    while above=$(dirname -- "$above"); [ "$above" != . ]; do
      if [ -L "$above" ] || { [ -e "$above" ] && [ ! -d "$above" ]; }; then rm -f -- "$above"; fi
    done
    rm -rf -- "$1"
    git --literal-pathspecs rm -rq --cached --ignore-unmatch -- "$1"
    git --literal-pathspecs checkout -q HEAD -- "$1" 2>/dev/null || :
  }
  answering=$(cat /verify/answering)
  while IFS=$'\t' read -r -d '' _ _ path; do
    if [[ $path =~ $answering ]] && ! grep -qzFx -e "$path" /verify/reference; then
      echo "Not changed by the patch: $path"
      restore "$path"
    fi
  done < <(git apply --numstat -z /verify/patch.diff)
  while IFS= read -r -d '' path; do restore "$path"; done < /verify/hidden
fi
bash /verify/chrome-without-sandbox.sh
exec bash /verify/eval.sh
