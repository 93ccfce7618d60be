// Any bytes as a table with texts, gaps and dates, encoded as features: as CSV or JSON Lines, with options from the
// first byte. What the encoder makes must be finite, and the same from rows that it was not learned on.

#include "lipschitzlr/data/table/encoder.hpp"
#include "table_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  using namespace lipschitzlr::data;
  if (size == 0) return 0;
  ReadOptions options;
  options.raw = true;
  constexpr Format kFormats[] = {Format::csv, Format::jsonl, Format::detect, Format::tsv};
  options.format = kFormats[bytes[0] & 3];
  options.has_target = (bytes[0] & 4) == 0;
  if ((bytes[0] & 8) != 0) options.ignore = {"a"};
  if ((bytes[0] & 16) != 0) options.known = {{"a", ColumnKind::text, true}};
  options.refuses_gaps = (bytes[0] & 32) != 0;
  const std::string_view content{reinterpret_cast<const char*>(bytes) + 1, size - 1};
  const Outcome whole = try_to_read(content, options, 4096);
  if (!whole.error.empty() || !std::holds_alternative<DenseMatrix<double>>(whole.table.features)) return 0;
  const Encoder encoder = Encoder::learn(whole.table, {.max_levels = 3, .all_levels = (bytes[0] & 64) != 0});
  if (!encoder.known()) return 0;
  const Table table = encoder.apply(whole.table, encoder.places_in(whole.table), "fuzz");
  demand(table.rows() == whole.table.rows() && stored_values(table.features).allFinite());
  demand(static_cast<Index>(table.feature_names.size()) == table.columns());
  if (options.format == Format::detect) return 0;
  const Outcome pieces = try_to_read(content, options, 5);
  demand(pieces.error.empty());
  const Table same = encoder.apply(pieces.table, encoder.places_in(pieces.table), "fuzz");
  demand(stored_values(same.features) == stored_values(table.features));
  return 0;
}
