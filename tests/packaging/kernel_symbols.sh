#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# kernel_symbols.sh NM LEVEL OBJECT...: no object of a kernel level defines a weak symbol outside of the level's own
# namespaces. The linker keeps one definition of a weak symbol of many, so such a symbol could bring the level's
# instructions into code that runs on every machine.
set -euo pipefail

nm=$1 level=$2
shift 2

found=$("$nm" -C --defined-only "$@" |
  awk -v own="pjrt::cpu::$level::" -v eigen="Eigen_$level::" '
    /^[^ ]+:$/ { object = $0; next }
    $2 ~ /^[WwVvu]$/ && !index($0, own) && !index($0, eigen) {
      name = $0; sub(/^[^ ]+ . /, "", name); print "  " name "    in " object }' | sort -u)
if [[ -n $found ]]; then
  echo "Weak symbols outside of pjrt::cpu::$level and Eigen_$level:"
  echo "$found"
  exit 1
fi
echo "$# objects of level $level define no weak symbol but their own"
