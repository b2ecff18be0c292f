#!/bin/sh
# uvx [-p V] [-w PKG | --with PKG]... pytest ARGS
while [ $# -gt 0 ]; do
  case "$1" in
    -p|--python|-w|--with|--from) shift 2 ;;
    pytest) shift; break ;;
    -*) shift ;;
    *) echo "uvx: only pytest is here, not $1" >&2; exit 2 ;;
  esac
done
exec belay-pytest "$@"
