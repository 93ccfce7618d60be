#pragma once
// The last step of every way into the cache: content is checked, then put into place with its checksum beside it.

#include <filesystem>
#include <string>

#include "lipschitzlr/data/catalogue/store.hpp"

namespace lipschitzlr::data::catalogue {

// Made inside the parent, and removed with all that is in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent);  // throws Error (data)
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool is_file(const std::string& path);

// What a file of this source can have at most: a packed file that unpacks to more is refused.
std::uint64_t most_bytes(const Source& source);

// Error (data) unless the content has the known checksum or, when there is none or another is accepted, reads as the
// data set.
Obtained install(const Entry& entry, const Source& source, const File& file, const std::string& content,
                 bool accept_unknown);

// The file's content, unpacked when it is gzip or xz. Error (data) when it is above most bytes.
std::string unpacked(const std::string& path, std::uint64_t most);
// The same of what is in memory; name is for error messages.
std::string unpacked(std::string_view content, std::uint64_t most, const std::string& name);

// The checksum written beside a file of the cache; empty when there is none.
std::string recorded_checksum(const std::string& path);

}  // namespace lipschitzlr::data::catalogue
