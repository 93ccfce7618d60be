#!/usr/bin/env bash
# Asks the bash completion for words as the shell would, and compares what it offers.   completion_test.sh PROGRAM
set -u
program=$1
source "$(dirname "${BASH_SOURCE[0]}")/../../completions/lipschitzlr.bash"
folder=$(mktemp -d) && cd "$folder" && touch iron.csv && mkdir data
trap 'rm -r "$folder"' EXIT
failed=0

# offers EXPECTED WORD...: the last word is the one being typed.
offers() {
  local expected=$1
  shift
  COMP_WORDS=("$program" "$@") COMP_CWORD=$# COMPREPLY=()
  _lipschitzlr
  [[ ${COMPREPLY[*]} == "$expected" ]] && return
  printf 'lipschitzlr %s: expected "%s", offered "%s"\n' "$*" "$expected" "${COMPREPLY[*]}"
  failed=1
}

offers "rate reproduce report" r
offers "iron.csv" report i
offers "json" report --format j
offers "data" da
offers "train" t
offers "launch" l
offers "train" launch -n 2 -- t
offers "--timeout" launch --t
offers "iris iron.csv" launch -n 2 -- fit i
offers "auto accelerated adamo auto-adam" launch -n 2 -- fit iris --solver a
offers "iris iron.csv" fit i
offers "iris iron.csv" rate --json i
offers "iron.csv" predict i
offers "iris iron.csv" predict iron.csv i
offers "auto accelerated adamo auto-adam" fit iris --solver a
offers "published" fit iris --rate = p
offers "iron.csv" fit iris -o i
offers "" fit iris --epochs i
offers "--sep --scale --seed --solver --second-moment --single --seconds" fit iris --s
offers "import" data i
offers "iris" data get i
offers "california" data get iris ca
offers "fashion-mnist fashion-mnist-test" train --data f
if [ -e "$(dirname "$program")/../libexec/lipschitzlr/lipschitzlr-torch" ]; then
  offers "amsgrad amsbound" train --optimizer am
  offers "adaptive" train --policy a
fi
offers "table1 table2 table3 text" reproduce t
offers "comparison" reproduce com
offers "mnist-cnn-auto-adam-adaptive" reproduce table3 mnist-cnn-au
offers "mnist-cnn-auto-adam-adaptive" reproduce mnist-cnn-au
offers "boston breast-cancer" reproduce table1 b
offers "--seeds" reproduce table1 --s
offers "--torch" env --t
exit $failed
