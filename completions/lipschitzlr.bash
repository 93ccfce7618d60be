# bash completion for lipschitzlr: commands, their options and values as --help lists them, names of data sets and of
# rows to reproduce, files.   source completions/lipschitzlr.bash

# The names in a list of the program, such as `data list`, one a line.
_lipschitzlr_names() {
  "$@" --json 2>/dev/null | grep -oE '"name": *"[^"]*"' | cut -d'"' -f4 | sort -u
}

_lipschitzlr() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} sub=
  # bash takes --rate=X for three words.
  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  [[ $command != data && $command != reproduce || ${COMP_WORDS[2]-} == -* ]] || sub=${COMP_WORDS[2]-}

  # The front script of a checkout would build first: its program is asked instead, once there is one.
  local program=${COMP_WORDS[0]/#\~/$HOME}
  program=$(readlink -f -- "$(type -P -- "$program")")
  [[ ! -e ${program%/*}/scripts/setup ]] || program=${program%/*}/build/bin/lipschitzlr

  # After launch's own options comes a command of its own.
  local at
  if [[ $command == launch ]]; then
    for ((at = 2; at < COMP_CWORD; ++at)); do
      [[ ${COMP_WORDS[at]} != train && ${COMP_WORDS[at]} != fit ]] || { command=${COMP_WORDS[at]} && break; }
    done
  fi

  local words='' files=no value='' help=''
  if [[ $COMP_CWORD -gt 1 && ($previous == -* || $current == -*) ]]; then
    # Lines such as "  -o,--output FILE   the file" and "  --format csv|tsv   ...": names, then what the value is.
    help=$("$program" "$command" ${sub:+"$sub"} --help 2>/dev/null | grep -E '^  -')
    [[ ! $previous =~ ^-[a-z0-9-]+$ ]] ||
      value=$(sed -nE "s/^  (-[a-z],)?$previous( |,--[a-z]+ )([^ :=]+).*/\3/p" <<<"$help")
  fi
  case $previous:$value in
    --data:*) words=$(_lipschitzlr_names "$program" data list) files=yes ;;
    --optimizer:*) words=$("$program" train --help 2>/dev/null | sed -nE '/^Optimizers/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p') ;;
    --rate:*) words="auto published coded certified gradient" ;;
    -*:*'|'*) words=${value//|/ } ;;
    -*:FILE | -*:FOLDER | -*:G) files=yes ;;
    -*:[A-Z]*) ;;
    *)
      case $COMP_CWORD:$command:$sub:$current in
        1:*) words="rate fit predict evaluate inspect train launch data reproduce report demo env --help --version" ;;
        *:-*) words=$(grep -oE '^  (-[a-z],)?-[a-z0-9-]+' <<<"$help" | tr ',' '\n') ;;
        *:launch:*) words="train fit" ;;
        2:data:*) words="list get import path verify pack" ;;
        2:reproduce:*) words="list table1 table2 table3 comparison text all $(_lipschitzlr_names "$program" reproduce list)" ;;
        *:data:import:* | *:data:pack:* | 2:predict:* | 2:evaluate:* | *:inspect:* | *:report:*) files=yes ;;
        *:data:get:* | *:data:path:* | *:data:verify:*) words=$(_lipschitzlr_names "$program" data list) ;;
        *:reproduce:list:* | *:reproduce:all:*) ;;
        *:reproduce:*) words=$(_lipschitzlr_names "$program" reproduce list) ;;
        *:rate:* | *:fit:* | *:predict:* | *:evaluate:*) words=$(_lipschitzlr_names "$program" data list) files=yes ;;
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files == yes ]]; then
    # Only here: the command "data" must not become the folder "data/".
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _lipschitzlr lipschitzlr ./lipschitzlr
