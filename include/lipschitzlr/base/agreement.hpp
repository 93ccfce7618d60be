#pragma once
// What all processes of a team must share before they compute together: the version, the options, the data. Asked once,
// at the start, because processes that differ would train something else than was meant, without a word.

#include <string>
#include <string_view>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/team.hpp"

namespace lipschitzlr {

// Collective. Throws Error (fault) in every process unless the fingerprint (a hash, or the text itself) is rank 0's in
// all of them: "other data in rank 2 than in rank 0", what being "data".
void expect_same(Team& team, const std::string& what, std::string_view fingerprint, Fault fault = Fault::usage);

}  // namespace lipschitzlr
