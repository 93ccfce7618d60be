// The list itself: one block per data set. Checksums are of copies seen when the list was made; addresses whose content
// was never seen carry none (see store.hpp). Those of the two figshare archives are the ones scikit-learn publishes.
#include "data/catalogue/image_sets.hpp"
#include "data/catalogue/table_sets.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

const char* const kUci = "CC BY 4.0";
const char* const kLibsvm = "LIBSVM page; Adult: CC BY 4.0";

std::vector<Entry> embedded() {
  const Task regression = Task::regression, classification = Task::classification;
  return {
      {"iris", "Iris flowers, 3 species", classification, 150, 4, "R. A. Fisher 1936", "public domain", "", {}},
      {"digits",
       "Handwritten digits, 8x8 pixels",
       classification,
       1797,
       64,
       "UCI, optdigits (test part)",
       kUci,
       "",
       {}},
      {"breast-cancer",
       "Breast cancer Wisconsin (diagnostic)",
       classification,
       569,
       30,
       "UCI, WDBC",
       kUci,
       "class 0 is benign, class 1 malignant",
       {}},
      {"wine", "Wine recognition, 3 cultivars", classification, 178, 13, "UCI, Wine", kUci, "", {}},
      {"diabetes",
       "Diabetes progression",
       regression,
       442,
       10,
       "Efron et al. 2004",
       "free use",
       "raw features, not the scaled ones of scikit-learn",
       {}},
      {"boston",
       "Boston house prices",
       regression,
       506,
       13,
       "Harrison, Rubinfeld 1978",
       "free use",
       "withdrawn by scikit-learn for its column B; here only to compare with the paper",
       {}},
  };
}

Entry california() {
  const File file{.name = "cal_housing.data",
                  .sha256 = "d3d8a1a722ae78f91134862727d27a70b1415e7d512a89140406248687f4b902",
                  .address = "https://ndownloader.figshare.com/files/5976036",
                  .packing = Packing::archive,
                  .member = "CaliforniaHousing/cal_housing.data",
                  .address_sha256 = "aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681"};
  return {"california",
          "California house prices",
          Task::regression,
          20640,
          8,
          "Pace, Barry 1997 (StatLib)",
          "free use",
          "scikit-learn's eight features; target value / 100,000",
          {{{file}, 20640, 8, read_california}}};
}

Entry energy() {
  const File file{.name = "ENB2012_data.csv",
                  .sha256 = "88fb36f0eb6f0afdab8602f84e67d0d631790a604d7fe9beeb531be97f4ef553",
                  .address = "https://archive.ics.uci.edu/static/public/242/data.csv"};
  return {"energy",
          "Energy efficiency of buildings",
          Task::regression,
          768,
          8,
          "UCI 242",
          kUci,
          "target Y1 (heating); Y2 (cooling) is dropped; UCI's CSV form, not its .xlsx",
          {{{file}, 768, 8, read_energy}}};
}

Entry news() {
  const File full{.name = "OnlineNewsPopularity.csv",
                  .address = "https://archive.ics.uci.edu/static/public/332/online+news+popularity.zip",
                  .packing = Packing::archive,
                  .member = "OnlineNewsPopularity/OnlineNewsPopularity.csv"};
  const File part{.name = "OnlineNewsPopularity_first39000_nourl.csv",
                  .sha256 = "1f48717311bad18cb76fb656c41d8c1c9642147474fc559cc4efb86cbf1d4089"};
  return {"news",
          "Online news popularity",
          Task::regression,
          39644,
          59,
          "UCI 332",
          kUci,
          "url is dropped, timedelta kept, target shares; the imported sample has the first 39,000 rows",
          {{{full}, 39644, 59, read_news}, {{part}, 39000, 59, read_news_without_url}}};
}

Entry covertype() {
  const File full{.name = "covtype.data.gz",
                  .sha256 = "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                  .address = "https://ndownloader.figshare.com/files/5976039",
                  .address_sha256 = "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771"};
  const File part{.name = "covtype_sample_92962.csv",
                  .sha256 = "e9a4dabc9c68479e5158cb60405f4ebc9de56c11ec0fd2fd734030580d567d80"};
  return {"covertype",
          "Forest cover type, 7 classes",
          Task::classification,
          581012,
          54,
          "UCI 31",
          kUci,
          "the imported sample is 16 % of the rows, stratified",
          {{{full}, 581012, 54, read_covertype}, {{part}, 92962, 54, read_covertype}}};
}

Entry a9a(const std::string& name, const std::string& title, const std::string& file, const std::string& sha256,
          Index rows) {
  const File published{.name = file,
                       .sha256 = sha256,
                       .address = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/" + file};
  return {name,
          title,
          Task::classification,
          rows,
          123,
          "LIBSVM, from UCI Adult",
          kLibsvm,
          "sparse; classes -1 and 1",
          {{{published}, rows, 123, read_a9a}}};
}

std::vector<Entry> all() {
  std::vector<Entry> list = embedded();
  list.push_back(california());
  list.push_back(energy());
  list.push_back(news());
  list.push_back(covertype());
  list.push_back(a9a("a9a", "Adult income, sparse", "a9a",
                     "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906", 32561));
  list.push_back(a9a("a9a-test", "Adult income, sparse, test rows", "a9a.t",
                     "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9", 16281));
  for (Entry& entry : image_entries()) list.push_back(std::move(entry));
  return list;
}

}  // namespace

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = all();
  return list;
}

}  // namespace lipschitzlr::data::catalogue
