#pragma once
// From columns of a record to the series of a chart, what the scale of an axis should be, and charts as JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lipschitzlr/report/document.hpp"

namespace lipschitzlr::report {

// Points that are no numbers are left out; of very many, some are kept.
Series make_series(const std::string& label, Role role, int color, const std::vector<double>& x,
                   const std::vector<double>& y);

// Leaves out points, evenly, of all curves alike, when there are more than a page of 1.5 MB has room for; the first
// epochs, where most happens, and the last point stay.
void thin_out(std::vector<ChartGroup>& groups);

// Logarithmic when all values are above zero and the largest is more than 30 times the smallest.
bool spans_decades(const std::vector<Series>& series, std::vector<double> Series::*axis);

// For the page's script and for files: numbers to six digits, which is more than a screen shows.
nlohmann::ordered_json charts_json(const Document& document);

// "the loss of CIFAR-10" as part of an address: "the-loss-of-cifar-10".
std::string identifier(const std::string& text);

}  // namespace lipschitzlr::report
