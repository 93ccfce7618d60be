# A few words for tests in bash. Each test runs in its own new folder; the first failure ends it with a message.
set -uo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
mkdir -p "$folder/bin"
export PATH=$folder/bin:$PATH

# tool NAME: makes a command of that name from standard input.
tool() {
  { echo '#!/usr/bin/env bash' && cat; } >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

expect() { # expect WHAT ACTUAL EXPECTED
  [ "$2" = "$3" ] && return
  printf 'FAILED: %s\n  expected: %s\n  actual:   %s\n' "$1" "$3" "$2"
  exit 1
}

expect_in() { # expect_in WHAT TEXT PART
  [[ $2 == *"$3"* ]] && return
  printf 'FAILED: %s\n  expected to find: %s\n  in: %s\n' "$1" "$3" "$2"
  exit 1
}
