#pragma once
// The parts of a document, each composed by a file of its own. The runs come first: the source of run i is number i.

#include "lipschitzlr/report/collection.hpp"
#include "lipschitzlr/report/document.hpp"

namespace lipschitzlr::report {

void add_runs(const Collection& collection, Document& document);
void add_linear_tables(const Collection& collection, bool whole_paper, Document& document);
void add_network_tables(const Collection& collection, bool whole_paper, Document& document);
void add_network_charts(const Collection& collection, bool whole_paper, Document& document);
void add_linear_charts(const Collection& collection, Document& document);

}  // namespace lipschitzlr::report
