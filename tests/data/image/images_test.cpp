#include "lipschitzlr/data/image/images.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr::data {
namespace {

TEST(Images, AsATableEveryByteIsAFeature) {
  const ImageSet set{.height = 1,
                     .width = 2,
                     .channels = 3,
                     .pixels = {1, 2, 3, 4, 5, 6, 255, 0, 7, 8, 9, 10},
                     .labels = {2, 0},
                     .classes = {"cat", "dog", "bird"}};
  const Table table = image_table(set);
  EXPECT_EQ(std::get<DenseMatrix<double>>(table.features),
            (DenseMatrix<double>{{1, 2, 3, 4, 5, 6}, {255, 0, 7, 8, 9, 10}}));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"pixel_0_0_red", "pixel_0_0_green", "pixel_0_0_blue",
                                                           "pixel_0_1_red", "pixel_0_1_green", "pixel_0_1_blue"}));
  EXPECT_EQ(table.labels, (std::vector<std::string>{"cat", "bird"}));  // no dog is there
  EXPECT_EQ(table.target, (Vector<double>{{1, 0}}));
  EXPECT_EQ(table.target_name, "label");
}

}  // namespace
}  // namespace lipschitzlr::data
