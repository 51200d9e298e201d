#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# source_rules.sh ROOT: the rules of CONTRIBUTING.md that can be read off the sources. Prints each offender.
set -u
shopt -s lastpipe # complain runs in this shell and can set `failed`
cd "$1" || exit 2

failed=0
# complain RULE: fails when stdin has lines, and prints them under the rule.
complain() {
  local offenders
  offenders=$(cat)
  [[ -z $offenders ]] && return
  failed=1
  printf '%s:\n%s\n' "$1" "  ${offenders//$'\n'/$'\n'  }"
}

mapfile -t sources < <(find include src tests bench examples tools -name '*.h' -o -name '*.cc' -o -name '*.inc')

for file in "${sources[@]}"; do
  IFS= read -r first <"$file"
  [[ $first == "// SPDX-License-Identifier: Apache-2.0" ]] || echo "$file"
done | complain "The first line is not the SPDX licence line"

wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 }' |
  complain "Longer than 700 lines; a file is one idea"

for file in "${sources[@]}"; do
  [[ $file == *.h ]] || continue
  guard=$(tr 'a-z/.-' 'A-Z___' <<<"${file#include/pjrt/}")_
  grep -qE "^#ifndef PJRT_(SRC_)?${guard#SRC_}\$" "$file" || echo "$file"
done | complain "The include guard does not name the file"

# uses PATTERN DIR...: includes of anything that matches under the folders given.
uses() {
  local pattern=$1
  shift
  grep -rnE "^#include \"($pattern)" "$@" 2>/dev/null
}
{
  uses 'src/cpu_device/|pjrt/cpu/' src/core
  uses 'src/' include
  uses 'src/core/(ir|passes|runtime)/|pjrt/(ir|backend)/' src/core/base include/pjrt/base
  uses 'src/core/(passes|runtime)/|pjrt/backend/' src/core/ir include/pjrt/ir
  uses 'src/core/runtime/|pjrt/backend/' src/core/passes
  uses 'src/core/(ir|passes|runtime)/|pjrt/(ir|backend)/' src/cpu_device/kernels src/cpu_device/custom_calls
  uses 'src/cpu_device/(backend|compile|custom_calls|loop|run|steps)/' src/cpu_device/kernels
  uses 'src/cpu_device/(backend|compile|custom_calls|run|steps)/' src/cpu_device/loop
  uses 'src/cpu_device/(backend|compile|custom_calls|steps)/' src/cpu_device/run
  uses 'src/cpu_device/(backend|compile|custom_calls)/' src/cpu_device/steps
  uses 'src/cpu_device/backend/' src/cpu_device/compile
  uses 'src/cpu_device/(backend|compile|loop|run|steps)/' src/cpu_device/custom_calls
} | complain "An include that points up (see docs/architecture.md)"

grep -rnE '\b(printf|fprintf|puts|std::cout|std::cerr|abort|exit)\s*\(|std::(cout|cerr)\b' src include |
  grep -vE '//|snprintf' | complain "The library prints or ends the process; return a Status"

grep -rnE '\b(TODO|FIXME|XXX|HACK)\b' include src tests bench examples tools cmake |
  grep -v 'source_rules\.sh' | complain "Open ends belong in an issue"

# The ids of error messages, and the rows that explain them.
row_ids() { grep -oE '^\| *`?\[?PJRT-[A-Z][0-9]{3}' docs/errors.md | grep -oE 'PJRT-.*'; }
comm -23 <(grep -rhvE '^ *//' src tools/pjrt | grep -oE 'PJRT-[A-Z][0-9]{3}' | sort -u) <(row_ids | sort -u) |
  complain "An error id without a row in docs/errors.md"
row_ids | sort | uniq -d | complain "An error id with two rows in docs/errors.md"

grep -rnP '[^\x00-\x7F]' --include='*.h' --include='*.cc' include src | complain "Not ASCII"

((failed == 0)) && echo "${#sources[@]} files follow the rules"
exit $failed
