#include "lipschitzlr/data/batch/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>

#include "data/batch/augment.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

const Augmentation kEverything{.shift = 0.1, .zoom = 0.1, .rotation = 15, .flip = true};

std::vector<Index> all(Index count) {
  std::vector<Index> images(static_cast<std::size_t>(count));
  std::iota(images.begin(), images.end(), Index{0});
  return images;
}

ImageSet random_set(Index count, Index height, Index width, Index channels) {
  Random random(5);
  ImageSet set{.height = height, .width = width, .channels = channels};
  set.labels.resize(static_cast<std::size_t>(count));
  set.pixels.resize(static_cast<std::size_t>(count * set.pixels_per_image()));
  for (auto& pixel : set.pixels) pixel = static_cast<std::uint8_t>(random.below(256));
  return set;
}

// The same image over and over: pixel(row, column, channel).
ImageSet copies(Index count, Index height, Index width, Index channels,
                const std::function<int(Index, Index, Index)>& pixel) {
  ImageSet set{.height = height, .width = width, .channels = channels};
  set.labels.resize(static_cast<std::size_t>(count));
  for (Index image = 0; image < count; ++image) {
    for (Index row = 0; row < height; ++row) {
      for (Index column = 0; column < width; ++column) {
        for (Index channel = 0; channel < channels; ++channel) {
          set.pixels.push_back(static_cast<std::uint8_t>(pixel(row, column, channel)));
        }
      }
    }
  }
  return set;
}

std::vector<float> filled(const ImageSet& set, const std::vector<float>& mean, const Augmentation& augmentation,
                          std::uint64_t seed, std::int64_t epoch, unsigned threads = 1) {
  ThreadPool pool(threads);
  const Batches batches(set, mean, augmentation, seed, pool);
  std::vector<float> out(set.pixels.size());
  batches.fill(all(set.count()), epoch, out.data());
  return out;
}

// The image of the oracle below, in a warper.
Warper oracle_image() {
  Warper warper(5, 7, 2);
  for (int row = 0; row < 5; ++row) {
    for (int i = 0; i < 14; ++i) {
      warper.row(row)[i] = static_cast<float>((row * 31 + i / 2 * 17 + i % 2 * 7) % 23) / 8 - 1;
    }
  }
  return warper;
}

// SciPy 1.10:
//   r, c, k = numpy.indices((5, 7, 2))
//   image = ((r * 31 + c * 17 + k * 7) % 23 / 8 - 1).astype(numpy.float32)
//   rotation = numpy.array([[cos(angle), -sin(angle), 0], [sin(angle), cos(angle), 0], [0, 0, 1]])
//   centre = numpy.array([[1, 0, 5 / 2 + 0.5], [0, 1, 7 / 2 + 0.5], [0, 0, 1]])
//   M = centre @ rotation @ [[1, 0, row_shift], [0, 1, column_shift], [0, 0, 1]] @ numpy.diag([row_zoom, column_zoom,
//   1])
//       @ numpy.linalg.inv(centre)
//   out = numpy.stack([scipy.ndimage.affine_transform(image[..., i], M[:2, :2], M[:2, 2], order=1, mode="nearest")
//                      for i in (0, 1)], 2)
//   if flip: out = out[:, ::-1]
void expect_figures(const Warp& warp, const std::vector<float>& figures) {
  std::vector<float> out(70);
  oracle_image().warp(warp, out.data());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], figures.at(i), 2e-6) << i;
}

TEST(Batches, RotatedZoomedMovedAndFlippedAsSciPyDoesIt) {
  expect_figures(
      {.angle = 0.3, .row_shift = 0.7, .column_shift = -1.2, .row_zoom = 1.1, .column_zoom = 0.85, .flip = true},
      {0.7494605f,   0.3363782f,  0.3215974f,   1.013629f,   1.181817f,    -0.2331884f, -0.1432738f,   //
       0.04203581f,  0.02725499f, 0.3242218f,   0.6243259f,  -0.2956111f,  0.8755181f,  -0.7665964f,   //
       0.2684442f,   1.143444f,   1.128663f,    0.5047634f,  0.4264225f,   0.08134477f, -0.02589823f,  //
       0.6495137f,   0.5737498f,  0.1363321f,   -0.2659926f, -0.3248039f,  -0.7369779f, -0.07361178f,  //
       0.2097868f,   0.5989574f,  -0.1380009f,  0.3743638f,  -0.02088794f, 0.7959486f,  0.7318766f,    //
       0.8420109f,   0.4280999f,  -0.190555f,   -0.1376929f, 0.5016061f,   0.1022584f,  0.9772584f,    //
       -0.04968885f, -0.1174239f, -0.1322047f,  0.7427953f,  0.7046548f,   1.579655f,   1.313682f,     //
       0.02790173f,  0.3023252f,  -0.07729124f, -0.3432642f, 0.5317358f,   0.125f,      1.0f,          //
       -0.7295902f,  0.1177965f,  -0.1481764f,  0.7268236f,  0.4608506f,   1.335851f,   1.069878f,     //
       0.7186802f,   0.9931037f,  -0.3210954f,  -0.5870684f, 0.2879316f,   0.02195861f, 0.8969586f});
}

TEST(Batches, MovedAsSciPyDoesIt) {
  expect_figures({.row_shift = 1.3, .column_shift = -2.6},
                 {0.3f,    0.3125f, 0.3f,    0.3125f, 0.3f,    0.3125f, 0.0f,     //
                  0.3575f, 0.055f,  0.125f,  0.8575f, 0.18f,   0.625f,  0.9825f,  //
                  0.4375f, -0.7f,   0.4375f, -0.7f,   0.4375f, -0.7f,   0.4825f,  //
                  -0.195f, 0.25f,   0.6075f, 0.305f,  0.375f,  0.7625f, 0.43f,    //
                  -0.575f, 0.3f,    -0.575f, 0.3f,    -0.575f, 0.3f,    -0.07f,   //
                  0.0f,    0.7325f, 0.055f,  0.5f,    0.8575f, -0.25f,  0.625f,   //
                  0.125f,  1.0f,    0.125f,  1.0f,    0.125f,  1.0f,    -0.175f,  //
                  0.7f,    0.225f,  -0.05f,  1.2f,    0.35f,   0.45f,   1.325f,   //
                  0.125f,  1.0f,    0.125f,  1.0f,    0.125f,  1.0f,    -0.175f,  //
                  0.7f,    0.225f,  -0.05f,  1.2f,    0.35f,   0.45f,   1.325f});
}

TEST(Batches, TheShortCutForMovesAgreesWithTheGeneralWay) {
  Random random(2);
  Warper warper = oracle_image();
  std::vector<float> quick(70), general(70);
  for (int round = 0; round < 500; ++round) {
    // Every seventh by whole pixels, and up to twice the size: there the nearest pixel is all there is.
    const double step = round % 7 == 0 ? 1 : 1e-3;
    const Warp warp{.row_shift = std::round(random.normal() * 4 / step) * step,
                    .column_shift = std::round(random.normal() * 5 / step) * step,
                    .flip = random.uniform() < 0.5};
    warper.warp(warp, quick.data());
    warper.warp_in_general(warp, general.data());
    for (std::size_t i = 0; i < quick.size(); ++i) ASSERT_NEAR(quick[i], general[i], 2e-6) << round << ' ' << i;
  }
}

TEST(Batches, ChannelsDoNotMeet) {
  Random random(3);
  for (Index channels : {2, 3, 4}) {
    Warper together(6, 5, channels), alone(6, 5, 1);
    const Warp warp{.angle = 0.2, .row_shift = 0.4, .column_shift = -0.9, .row_zoom = 0.9, .flip = channels == 3};
    for (Index i = 0; i < 30 * channels; ++i) {
      together.row(i / (5 * channels))[i % (5 * channels)] = static_cast<float>(random.normal());
    }
    std::vector<float> out(static_cast<std::size_t>(30 * channels)), single(30);
    together.warp(warp, out.data());
    for (Index channel = 0; channel < channels; ++channel) {
      for (Index i = 0; i < 30; ++i) alone.row(i / 5)[i % 5] = together.row(i / 5)[i % 5 * channels + channel];
      alone.warp(warp, single.data());
      for (Index i = 0; i < 30; ++i) {
        EXPECT_EQ(out[static_cast<std::size_t>(i * channels + channel)], single[static_cast<std::size_t>(i)]);
      }
    }
  }
}

TEST(Batches, AnImageOfOnePixelStaysThatPixel) {
  const ImageSet set = copies(20, 1, 1, 3, [](Index, Index, Index channel) { return 50 + 10 * channel; });
  ThreadPool pool(1);
  const Batches batches(set, {}, {.shift = 0.9, .zoom = 0.5, .rotation = 90, .flip = true}, 1, pool);
  std::vector<float> changed(60), plain(60);
  batches.fill(all(20), 0, changed.data());
  batches.fill_plain(all(20), plain.data());
  EXPECT_EQ(changed, plain);
  EXPECT_EQ(plain[1], 60.0f / 255.0f);
}

TEST(Batches, TheMeanIsExact) {
  const ImageSet set = random_set(1001, 2, 3, 3);
  const std::vector<float> mean = mean_image(set);
  ASSERT_EQ(mean.size(), 18u);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    long sum = 0;
    for (std::size_t image = 0; image < 1001; ++image) sum += set.pixels[image * 18 + i];
    EXPECT_EQ(mean[i], static_cast<float>(static_cast<double>(sum) / (255.0 * 1001)));
  }
  EXPECT_THROW(mean_image(ImageSet{.height = 2, .width = 2, .channels = 1}), Error);
}

TEST(Batches, PlainImagesArePixelsOver255MinusTheMean) {
  const ImageSet set = random_set(30, 4, 5, 3);
  const std::vector<float> mean = mean_image(set);
  ThreadPool pool(2);
  const std::vector<Index> chosen = {29, 0, 7, 7, 3, 11, 12, 13, 14, 15};
  std::vector<float> plain(600), unchanged(600);
  Batches(set, mean, kEverything, 1, pool).fill_plain(chosen, plain.data());
  Batches(set, mean, {}, 1, pool).fill(chosen, 4, unchanged.data());
  EXPECT_EQ(plain, unchanged);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t pixel = static_cast<std::size_t>(chosen[i / 60]) * 60 + i % 60;
    EXPECT_EQ(plain[i], static_cast<float>(set.pixels[pixel]) / 255.0f - mean[i % 60]);
  }
}

TEST(Batches, TheBitsAreTheSameForAnyNumberOfThreads) {
  const ImageSet set = random_set(203, 9, 8, 3);
  const std::vector<float> mean = mean_image(set);
  for (const Augmentation& augmentation : {kEverything, Augmentation{.shift = 0.2, .flip = true}}) {
    const std::vector<float> one = filled(set, mean, augmentation, 11, 3, 1);
    EXPECT_EQ(one, filled(set, mean, augmentation, 11, 3, 2));
    EXPECT_EQ(one, filled(set, mean, augmentation, 11, 3, 7));
  }
}

TEST(Batches, AnImageDoesNotDependOnTheRestOfItsBatch) {
  const ImageSet set = random_set(40, 6, 6, 1);
  const std::vector<float> together = filled(set, mean_image(set), kEverything, 1, 2);
  ThreadPool pool(1);
  const Batches batches(set, mean_image(set), kEverything, 1, pool);
  std::vector<float> alone(36);
  for (Index image = 0; image < 40; ++image) {
    batches.fill(std::vector<Index>{image}, 2, alone.data());
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + image * 36)) << image;
  }
}

TEST(Batches, SeedEpochAndImageEachGiveAnotherPicture) {
  const ImageSet set = copies(50, 8, 8, 1, [](Index row, Index column, Index) { return row * 30 + column; });
  std::set<std::vector<float>> pictures;
  for (std::uint64_t seed : {1, 2}) {
    for (std::int64_t epoch : {0, 1, 2}) {
      const std::vector<float> out = filled(set, {}, kEverything, seed, epoch);
      for (auto begin = out.begin(); begin != out.end(); begin += 64) pictures.emplace(begin, begin + 64);
    }
  }
  EXPECT_EQ(pictures.size(), 300u);
}

// A slope of ten a pixel, along the columns in channel 0 and along the rows in channel 1: the value in the middle tells
// from where it was taken.
TEST(Batches, ImagesMoveUpToTheShareOfTheirSizeEitherWay) {
  const ImageSet set =
      copies(2000, 10, 20, 2, [](Index row, Index column, Index k) { return 10 * (k ? row : column); });
  ThreadPool pool(2);
  std::vector<float> out(set.pixels.size());
  Batches(set, {}, {.shift = 0.1}, 1, pool).fill(all(2000), 0, out.data());
  for (std::size_t channel : {0, 1}) {
    const double limit = channel ? 1 : 2, middle = channel ? 5 : 10;
    double least = 9, most = -9, sum = 0;
    for (std::size_t image = 0; image < 2000; ++image) {
      const double moved = out[image * 400 + (5 * 20 + 10) * 2 + channel] * 25.5 - middle;
      least = std::min(least, moved);
      most = std::max(most, moved);
      sum += moved;
    }
    EXPECT_GT(least, -limit - 1e-5);
    EXPECT_LT(least, -0.99 * limit);
    EXPECT_LT(most, limit + 1e-5);
    EXPECT_GT(most, 0.99 * limit);
    EXPECT_NEAR(sum / 2000, 0, 0.06 * limit);  // a deviation is 0.013
  }
}

TEST(Batches, HalfTheImagesAreFlipped) {
  const ImageSet set = copies(4000, 1, 4, 1, [](Index, Index column, Index) { return static_cast<int>(column); });
  ThreadPool pool(1);
  std::vector<float> out(set.pixels.size());
  Batches(set, {}, {.flip = true}, 1, pool).fill(all(4000), 0, out.data());
  int flipped = 0;
  for (std::size_t i = 0; i < out.size(); i += 4) {
    const float step = 1.0f / 255.0f;
    const bool is_flipped = out[i] != 0;
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_NEAR(out[i + column], static_cast<float>(is_flipped ? 3 - column : column) * step, 1e-7);
    }
    flipped += is_flipped;
  }
  EXPECT_NEAR(flipped, 2000, 160);  // five deviations of 32
}

TEST(Batches, DrawsFillTheirRangesAndAreAlwaysAsMany) {
  Random random(8), none(8);
  double angle = 0, row_zoom = 0, column_zoom = 0, together = 0;
  for (int round = 0; round < 10000; ++round) {
    const Warp warp = draw_warp(kEverything, 28, 28, random);
    angle = std::max(angle, std::abs(warp.angle));
    row_zoom = std::max(row_zoom, std::abs(warp.row_zoom - 1));
    column_zoom = std::max(column_zoom, std::abs(warp.column_zoom - 1));
    together += (warp.row_zoom - 1) * (warp.column_zoom - 1);
    const Warp still = draw_warp({}, 28, 28, none);
    EXPECT_TRUE(still.moves_only() && still.row_shift == 0 && still.column_shift == 0 && !still.flip);
  }
  EXPECT_EQ(random.bits(), none.bits());
  EXPECT_LE(angle, std::numbers::pi / 12);
  EXPECT_GT(angle, 0.999 * std::numbers::pi / 12);
  for (double zoom : {row_zoom, column_zoom}) {
    EXPECT_LE(zoom, 0.1 + 1e-15);
    EXPECT_GT(zoom, 0.0999);
  }
  EXPECT_NEAR(together / 10000, 0, 1.7e-4);  // independent: five deviations of 0.01 / 3 / 100
}

TEST(Examples, TheOrderIsAPermutationOfTheGivenOnesForEachEpoch) {
  std::vector<Index> given;
  for (Index image = 0; image < 300; image += 2) given.push_back(image);
  std::vector<Index> first = epoch_order(given, 1, 0);
  EXPECT_EQ(first, epoch_order(given, 1, 0));
  EXPECT_NE(first, given);
  EXPECT_NE(first, epoch_order(given, 1, 1));
  EXPECT_NE(first, epoch_order(given, 2, 0));
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, given);
  EXPECT_TRUE(epoch_order({}, 1, 0).empty());
}

TEST(Batches, AnAugmentationOutOfRangeOrAForeignMeanIsRefused) {
  const ImageSet set = random_set(2, 2, 2, 1);
  ThreadPool pool(1);
  const auto complaint = [&](const std::vector<float>& mean, const Augmentation& augmentation) -> std::string {
    try {
      Batches(set, mean, augmentation, 1, pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "no error";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double shift : {-0.1, 1.0, nan}) EXPECT_TRUE(complaint({}, {.shift = shift}).starts_with("the shift "));
  for (double zoom : {-0.1, 1.0, nan}) EXPECT_TRUE(complaint({}, {.zoom = zoom}).starts_with("the zoom "));
  for (double degrees : {-1.0, 181.0, nan}) {
    EXPECT_TRUE(complaint({}, {.rotation = degrees}).starts_with("the rotation "));
  }
  EXPECT_NE(complaint({1, 2, 3}, {}).find("the mean image has 3 numbers, but an image has 4"), std::string::npos);
  EXPECT_EQ(complaint({1, 2, 3, 4}, kEverything), "no error");
}

}  // namespace
}  // namespace lipschitzlr::data
