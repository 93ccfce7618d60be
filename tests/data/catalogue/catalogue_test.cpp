#include "lipschitzlr/data/catalogue/catalogue.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "data/catalogue/table_sets.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

const DenseMatrix<double>& dense(const Table& table) { return std::get<DenseMatrix<double>>(table.features); }

std::vector<int> class_sizes(const Table& table) {
  std::vector<int> sizes(table.labels.size());
  for (double label : table.target) ++sizes.at(static_cast<std::size_t>(label));
  return sizes;
}

class Catalogue : public testing::Test {
 protected:
  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_catalogue_" + std::to_string(getpid()));
  void SetUp() override {
    fs::create_directories(folder);
    setenv("LIPSCHITZLR_DATA", (folder / "cache").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("LIPSCHITZLR_DATA");
    fs::remove_all(folder);
  }
  std::string write(const std::string& name, const std::string& content) {
    write_file_atomically(folder / name, content);
    return folder / name;
  }
};

// Norms and sums by NumPy from scikit-learn's load_* functions: numpy.linalg.norm(X), numpy.bincount(y), y.sum().
TEST_F(Catalogue, EmbeddedClassesAreScikitLearns) {
  const Table iris = load("iris"), digits = load("digits"), wine = load("wine"), cancer = load("breast-cancer");
  EXPECT_NEAR(dense(iris).norm(), 97.66928892952994, 1e-11);
  EXPECT_EQ(iris.labels, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
  EXPECT_EQ(class_sizes(iris), (std::vector<int>{50, 50, 50}));
  EXPECT_EQ(iris.feature_names[3], "petal_width");
  EXPECT_EQ(iris.target_name, "species");
  EXPECT_NEAR(dense(digits).norm(), 2628.119479780172, 1e-9);
  EXPECT_EQ(class_sizes(digits), (std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
  EXPECT_EQ(digits.labels[9], "9");
  EXPECT_NEAR(dense(wine).norm(), 10898.078031484094, 1e-8);
  EXPECT_EQ(class_sizes(wine), (std::vector<int>{59, 71, 48}));
  EXPECT_NEAR(dense(cancer).norm(), 30904.195897725687, 1e-8);
  EXPECT_EQ(cancer.labels, (std::vector<std::string>{"benign", "malignant"}));
  EXPECT_EQ(class_sizes(cancer), (std::vector<int>{357, 212}));
}

TEST_F(Catalogue, EmbeddedNumbersAreScikitLearns) {
  const Table diabetes = load("diabetes"), boston = load("boston");
  EXPECT_NEAR(dense(diabetes).norm(), 5748.2380258227795, 1e-9);
  EXPECT_EQ(diabetes.target.sum(), 67243);
  EXPECT_FALSE(diabetes.is_classified());
  EXPECT_NEAR(dense(boston).norm(), 13072.860124112916, 1e-8);
  EXPECT_NEAR(boston.target.sum(), 11401.6, 1e-9);
  EXPECT_EQ(boston.target_name, "MEDV");
}

TEST_F(Catalogue, EveryEntryIsComplete) {
  std::set<std::string> names;
  for (const Entry& entry : entries()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.title.empty() || entry.origin.empty() || entry.licence.empty()) << entry.name;
    EXPECT_EQ(entry.sources.empty(), !embedded_csv(entry.name).empty()) << entry.name;
    for (const Source& source : entry.sources) {
      EXPECT_NE(source.read, nullptr) << entry.name;
      EXPECT_EQ(source.columns, entry.columns) << entry.name;
      for (const File& file : source.files) {
        EXPECT_FALSE(file.address.empty() && file.sha256.empty()) << file.name;
        EXPECT_EQ(file.packing == Packing::archive, !file.member.empty()) << file.name;
      }
    }
    if (entry.sources.empty()) {
      const Table table = load(entry);
      EXPECT_EQ(table.rows(), entry.rows) << entry.name;
      EXPECT_EQ(table.columns(), entry.columns) << entry.name;
      EXPECT_EQ(table.is_classified(), entry.task == Task::classification) << entry.name;
    }
  }
  EXPECT_EQ(find("mnist")->rows, 60000);
  EXPECT_EQ(find("nothing"), nullptr);
}

TEST_F(Catalogue, AnAbsentSetTellsHowToGetIt) {
  EXPECT_EQ(place(*find("california")), Place::absent);
  for (const auto& ask : {+[] { load("california"); }, +[] { path("california"); }}) {
    try {
      ask();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_NE(std::string(error.what()).find("lipschitzlr data get california"), std::string::npos);
    }
  }
}

TEST_F(Catalogue, AnUnknownNameListsTheKnownOnes) {
  try {
    load("irsi");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("no data set \"irsi\" (did you mean iris?); known are iris, digits"),
              std::string::npos);
  }
}

TEST_F(Catalogue, TheCacheFollowsTheEnvironment) {
  EXPECT_EQ(cache_folder(), (folder / "cache").string());
  setenv("LIPSCHITZLR_DATA", "", 1);
  const char* old_cache = std::getenv("XDG_CACHE_HOME");
  const std::string kept = old_cache == nullptr ? "" : old_cache;
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(cache_folder(), "/somewhere/lipschitzlr");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder(), std::string(std::getenv("HOME")) + "/.cache/lipschitzlr");
  setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

TEST_F(Catalogue, TheBestSourceAtHandIsTaken) {
  const Entry& news = *find("news");
  const auto put = [&](const File& file) {
    fs::create_directories(fs::path(cached_path(news, file)).parent_path());
    write_file_atomically(cached_path(news, file), "");
  };
  put(news.sources[1].files[0]);
  EXPECT_EQ(cached_source(news), &news.sources[1]);
  put(news.sources[0].files[0]);
  EXPECT_EQ(cached_source(news), &news.sources[0]);
  EXPECT_EQ(place(news), Place::cached);
  EXPECT_EQ(path("news"), cached_path(news, news.sources[0].files[0]));
}

TEST_F(Catalogue, TwoFilesMustBothBeThere) {
  const Entry& mnist = *find("mnist");
  fs::create_directories(folder / "cache" / "mnist");
  write("cache/mnist/train-images-idx3-ubyte", "");
  EXPECT_EQ(place(mnist), Place::absent);
  write("cache/mnist/train-labels-idx1-ubyte", "");
  EXPECT_EQ(place(mnist), Place::cached);
  EXPECT_EQ(path("mnist"), (folder / "cache" / "mnist").string());
}

TEST_F(Catalogue, AnEmbeddedSetIsWrittenOutForItsPath) {
  EXPECT_EQ(path("iris"), (folder / "cache" / "iris" / "iris.csv").string());
  EXPECT_EQ(read_file(path("iris")), embedded_csv("iris"));
  write("cache/iris/iris.csv", "damaged");
  EXPECT_EQ(read_file(path("iris")), embedded_csv("iris"));
}

TEST_F(Catalogue, CaliforniaGetsScikitLearnsFeatures) {
  // The first row of fetch_california_housing(): 8.3252, 41, 6.98412698, 1.02380952, 322, 2.55555556, 37.88, -122.23.
  const Table table = read_california({write("c",
                                             "-122.23,37.88,41,880,129,322,126,8.3252,452600\n"
                                             "-122.22,37.86,21,7099,1106,2401,1138,8.3014,358500")});
  EXPECT_TRUE(dense(table).row(0).isApprox(
      Eigen::RowVectorXd{{8.3252, 41, 6.984126984126984, 1.0238095238095237, 322, 2.5555555555555554, 37.88, -122.23}},
      1e-15));
  EXPECT_DOUBLE_EQ(table.target(0), 4.526);
  EXPECT_THROW(read_california({write("c", "1,2,3\n")}), Error);
}

TEST_F(Catalogue, EnergyKeepsOneTarget) {
  const Table table = read_energy({write("e", "X1,X2,Y1,Y2\n1,2,3,4\n5,6,7,8\n")});
  EXPECT_EQ(dense(table), (DenseMatrix<double>{{1, 2}, {5, 6}}));
  EXPECT_EQ(table.target, (Vector<double>{{3, 7}}));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"X1", "X2"}));
  EXPECT_THROW(read_energy({write("e", "X1,X2,Y1\n1,2,3\n")}), Error);
}

TEST_F(Catalogue, NewsLosesItsAddresses) {
  const Table table = read_news({write("n",
                                       "url, timedelta, n, shares\r\nhttp://a.b/c/, 731.0, 12.0, 593\r\n"
                                       "http://a.b/d/, 730.0, 9.0, 711")});
  EXPECT_EQ(dense(table), (DenseMatrix<double>{{731, 12}, {730, 9}}));
  EXPECT_EQ(table.target, (Vector<double>{{593, 711}}));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"timedelta", "n"}));
}

TEST_F(Catalogue, AdultHasAllColumnsEvenWhenTheFileDoesNotReachThem) {
  const Table table = read_a9a({write("a", "-1 3:1 11:1 \n+1 5:1 \n")});
  EXPECT_EQ(table.columns(), 123);
  EXPECT_EQ(table.labels, (std::vector<std::string>{"-1", "1"}));
  EXPECT_EQ(table.target, (Vector<double>{{0, 1}}));
}

TEST_F(Catalogue, AnotherShapeIsRefused) {
  const Source source{{}, 3, 2, read_energy};
  try {
    read_source(source, {write("e", "X1,X2,Y1,Y2\n1,2,3,4\n5,6,7,8\n")});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has 2 rows and 2 features, expected 3 and 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace lipschitzlr::data::catalogue
