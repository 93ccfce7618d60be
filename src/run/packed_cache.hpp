#pragma once
// A CSV that is larger than the memory it may take: packed once, into the cache folder, and read from there.

#include <string>

#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::run {

struct CachedPack {
  std::string path;  // of the packed table, for which options are then those of reading it
  data::ReadOptions options;
  std::string remark;  // what was done, in a sentence
};

// Packs the file, unless a packed table of it as it is now, read with the same options, is there. Throws Error: what
// pack_table and writing throw.
CachedPack pack_into_cache(const std::string& source, const data::ReadOptions& options);

}  // namespace lipschitzlr::run
