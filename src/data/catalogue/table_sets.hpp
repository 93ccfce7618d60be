#pragma once
// From the published files to the tables of the paper and of scikit-learn: one function per file layout.

#include <string>
#include <vector>

#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data::catalogue {

// StatLib's nine columns become scikit-learn's eight features; the target is the value in units of 100,000.
Table read_california(const std::vector<std::string>& paths);
// X1 to X8 and target Y1; Y2, the other target, is dropped.
Table read_energy(const std::vector<std::string>& paths);
// The UCI file: the url column is dropped, all 59 others are kept (timedelta too), target shares.
Table read_news(const std::vector<std::string>& paths);
// The same without a url column in the file.
Table read_news_without_url(const std::vector<std::string>& paths);
// 54 features and the cover type 1 to 7, with or without a header.
Table read_covertype(const std::vector<std::string>& paths);
// LIBSVM with 123 features and classes -1 and 1.
Table read_a9a(const std::vector<std::string>& paths);

}  // namespace lipschitzlr::data::catalogue
