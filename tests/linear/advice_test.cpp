#include "lipschitzlr/linear/advice.hpp"

#include <gtest/gtest.h>

#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::linear {
namespace {

TEST(Advice, FollowsTheLowestTrialLoss) {
  ThreadPool pool(1);
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    const auto problem = random_problem(family, pool);
    const Advice advice = advise(*problem);
    ASSERT_GE(advice.trials.size(), 3u);
    const auto chosen = std::find_if(advice.trials.begin(), advice.trials.end(),
                                     [&](const Trial& trial) { return trial.kind == advice.kind; });
    ASSERT_NE(chosen, advice.trials.end());
    for (const Trial& trial : advice.trials) EXPECT_LE(chosen->loss, trial.loss);
    EXPECT_NE(advice.reason.find("200 trial steps"), std::string::npos);
  }
}

TEST(Advice, OneOverBetaIsTooCarefulForTheRawDigits) {
  // method.md, section 2: 115 to 187 steps with the published constant, more than 5000 with 1/beta.
  ThreadPool pool(1);
  const data::Table digits = data::catalogue::load("digits");
  const Problem<double> problem(std::get<DenseMatrix<double>>(digits.features), digits.target,
                                {Family::softmax, 10, {}, 0}, pool);
  EXPECT_NE(advise(problem).kind, ConstantKind::gradient);
}

TEST(Advice, AllZeroFeaturesAreRefused) {
  ThreadPool pool(1);
  const Problem<double> problem(DenseMatrix<double>::Zero(3, 2).eval(), Vector<double>{{0, 1, 1}},
                                {Family::logistic, 1, {}, 0}, pool);
  EXPECT_THROW(advise(problem), Error);
}

}  // namespace
}  // namespace lipschitzlr::linear
