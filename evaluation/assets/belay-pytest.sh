#!/bin/bash
args=()
while [ $# -gt 0 ]; do
  case "$1" in
    --ctrf) shift 2 ;;
    *) args+=("$1"); shift ;;
  esac
done
exec python3 -P -m pytest "${args[@]}"
