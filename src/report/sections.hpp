#pragma once
// The sections of a document, each composed by a file of its own. The records come first: the source of record i is
// number i.

#include "lipschitzlr/experiment/collection.hpp"
#include "lipschitzlr/report/document.hpp"

namespace lipschitzlr::report {

using experiment::Collection;

void add_records(const Collection& collection, Document& document);
void add_tables(const Collection& collection, const std::vector<experiment::Row>& rows, bool whole_paper,
                Document& document);
// Of fits of one model on one data set, with their labels; no charts for what they do not say.
std::vector<Chart> answer_charts(const std::vector<const run::Record*>& records,
                                 const std::vector<std::string>& labels);
void add_charts(const Collection& collection, bool whole_paper, Document& document);

// A word or sentence of its own; a dash when there is none.
inline Cell word_cell(const std::string& text) { return {text.empty() ? "–" : text, kNoNumber, kNoSource, ""}; }

}  // namespace lipschitzlr::report
