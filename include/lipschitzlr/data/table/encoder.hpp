#pragma once
// From the columns of a file to features, which are numbers. Learned on the training rows and then applied to any:
//   a number   is itself; a gap is filled with the mean or median, and marked by a feature "NAME (missing)" if training
//              rows had one
//   a boolean  (yes, no, true, false) is 1 or 0, filled and marked likewise
//   a category has a feature "NAME=LEVEL", 0 or 1, for each level; the rarest above max_levels share "NAME (other)",
//   and
//              gaps have "NAME (missing)"
//   a date     is its day number, filled and marked likewise, with levels for month and weekday
// A text that differs in every row is an id and left out, and so is a column that is empty or has one text alone.
// Features of a sparse matrix are counted from fill, so that a number in place of a gap takes no room.

#include <string>
#include <vector>

#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

enum class Missing { mean, median, drop, error };

struct EncoderOptions {
  Missing missing = Missing::mean;  // drop: is up to the caller (complete_rows), and leaves nothing to fill
  Index max_levels = 100;
  // Without a penalty the weights of all levels would not be determined: then the most frequent has no feature, and the
  // others compare with it.
  bool all_levels = true;
};

struct Levels {
  std::vector<std::string> names = {};  // ascending
  Index reference = -1;                 // the one without a feature; -1: all have one
};

struct EncodedColumn {
  enum class Kind { number, boolean, category, date };

  std::string name;
  Index place = 0;  // among the features of the file, from 0
  Kind kind = Kind::number;
  double fill = 0;
  bool marks_gaps = false;
  bool exact = false;                 // a category of codes: KnownColumn
  bool has_other = false;             // of a category
  Levels levels = {};                 // of a category
  Levels months = {}, weekdays = {};  // of a date: numbers from 1, Monday being the first
};

// Columns of a table by those of an encoder: places in its matrix; -1: it does not have this one.
using ColumnPlaces = std::vector<Index>;

struct Encoder {
  Missing missing = Missing::mean;
  Index width = 0;  // features of the file
  bool sparse = false;
  std::vector<EncodedColumn> columns;  // none: there is nothing to encode
  std::vector<std::string> remarks;    // on what was decided; not kept in a model file

  // Of a dense table; a sparse one has no columns to encode. row_weights weigh the means. With a communicator of the
  // rows of all processes, whose texts have the same places; collective.
  static Encoder learn(const Table& training, const EncoderOptions& options, const Vector<double>& row_weights = {},
                       Communicator* communicator = nullptr);

  bool known() const { return !columns.empty(); }
  // Whether the features are the columns.
  bool is_plain() const;
  // For the reader of other rows: the columns by name, or one for every place in the file.
  std::vector<KnownColumn> known_columns(bool by_place) const;

  struct Feature {
    std::string name;
    bool indicator;
  };
  std::vector<Feature> features() const;

  // The columns by name.
  ColumnPlaces places_in(const Table& table) const;

  // The table with features in place of its columns. What the model has not seen (levels it does not know, missing
  // columns) adds a remark, which starts with source; with strict it is an Error (data). Streamed rows stay streamed
  // where the features are columns of theirs; elsewhere they have to be in memory.
  Table apply(Table table, const ColumnPlaces& places, const std::string& source, bool strict = false) const;

 private:
  void name_features(Table& table) const;
};

// The rows without a gap.
std::vector<Index> complete_rows(const Table& table);

}  // namespace lipschitzlr::data
