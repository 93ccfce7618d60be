# bash completion for lipschitzlr: commands, their options as --help lists them, data set names, files.
_lipschitzlr() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]-} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="rate fit predict evaluate data reproduce demo env --help --version"
  elif [[ $current == -* ]]; then
    local sub=
    [[ $command == data || $command == reproduce ]] && [[ ${COMP_WORDS[2]-} != -* ]] && sub=${COMP_WORDS[2]-}
    words=$("$program" "$command" $sub --help 2>/dev/null | grep -oE -- '(^|[ ,])--?[a-z][a-z0-9-]*' | tr -d ' ,' | sort -u)
  else
    case $previous in
      --model) words="auto linear logistic softmax" ;;
      --scale) words="auto none sum standard minmax" ;;
      --solver) words="accelerated gd sgd adamo rmsprop auto-adam lbfgs" ;;
      --rate) words="auto published coded certified gradient" ;;
      --recompute) words="never epoch batch" ;;
      --format) words="csv tsv libsvm" ;;
      --second-moment) words="elementwise full-square without-weight-square coded" ;;
      data) words="list get import path verify" ;;
      reproduce) words="list table1 table2" ;;
      rate | fit | get | path | verify)
        words=$("$program" data list --json 2>/dev/null | grep -oE '"name": *"[^"]*"' | cut -d'"' -f4)
        ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ $current == -* || $previous == data || $previous == reproduce ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _lipschitzlr lipschitzlr ./lipschitzlr
