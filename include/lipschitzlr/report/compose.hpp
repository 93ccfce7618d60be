#pragma once
// From records to a document: the rows of the paper's tables with what was measured for each, charts of every training,
// the list of records, and a summary of all that. It never trains.

#include "lipschitzlr/experiment/collection.hpp"
#include "lipschitzlr/report/document.hpp"

namespace lipschitzlr::report {

struct ComposeOptions {
  std::string title;         // empty: one that fits
  bool whole_paper = false;  // also tables of which no row was run
  std::vector<experiment::Recipe> recipes = experiment::recipes();
};

Document compose(const experiment::Collection& collection, const ComposeOptions& options = {});

// The page of everything in a folder, written there as report.html; returns its whole path.
std::string write_page(const std::string& folder, const ComposeOptions& options = {});

}  // namespace lipschitzlr::report
