#pragma once
// How much of a training's progress goes to the screen (stderr).

#include <unistd.h>

namespace lipschitzlr::run {

enum class Verbosity { silent, lines, terminal };

// terminal when stderr is one, otherwise lines.
inline Verbosity default_verbosity() { return isatty(STDERR_FILENO) != 0 ? Verbosity::terminal : Verbosity::lines; }

}  // namespace lipschitzlr::run
