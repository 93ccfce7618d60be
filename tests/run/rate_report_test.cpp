#include "lipschitzlr/run/rate_report.hpp"

#include "run/scratch.hpp"

namespace lipschitzlr::run {
namespace {

class RateReportTest : public Scratch {
 protected:
  RateReport report_of(const std::string& table, double l2 = 0) {
    write("table.csv", table);
    RateOptions options;
    options.data.source = folder + "/table.csv";
    options.data.scaling = data::Scaling::none;
    options.data.intercept = false;
    options.data.l2 = l2;
    options.threads = 1;
    return report_rates(prepare(options.data), options);
  }
};

TEST_F(RateReportTest, TheMatrixOfOneColumnIsBetaAndPromisesTheSame) {
  // X'X/4m + lambda = (1 + 9)/8 + 0.75 = 2; g = ((1/2) 1 + (-1/2) 3)/2 = -1/2; g^2/2B = 1/16.
  const RateReport report = report_of("x,y\n1,a\n3,b\n", 0.75);
  ASSERT_TRUE(report.matrix);
  EXPECT_EQ(report.matrix->formula, "X'X/4m + lambda I");
  EXPECT_NEAR(report.matrix->promised, 1.0 / 16, 1e-15);
  EXPECT_NEAR(report.promised, 1.0 / 16, 1e-9);
  EXPECT_DOUBLE_EQ(report.matrix->condition, 1);
  EXPECT_NEAR(report.matrix->trial_loss, report.loss_floor, 1e-11);
}

TEST_F(RateReportTest, OneStepOfTheMatrixEndsLeastSquares) {
  // (1, 2, 4) and (1, 0, 1) have the cosine r = 5/sqrt(42); in the 1-norm the condition number is (1 + r)/(1 - r).
  const RateReport report = report_of("a,b,y\n1,1,0.5\n2,0,3.25\n4,1,-7.5\n");
  ASSERT_TRUE(report.matrix);
  EXPECT_EQ(report.matrix->formula, "X'X/m");
  EXPECT_NEAR(report.matrix->promised, report.start_loss - report.loss_floor, 1e-9);
  const double r = 5 / std::sqrt(42.0);
  EXPECT_NEAR(report.matrix->condition, (1 + r) / (1 - r), 1e-9);
  EXPECT_LT(report.promised, report.matrix->promised);
}

TEST_F(RateReportTest, ARepeatedColumnIsSeenInTheRank) {
  const RateReport report = report_of("a,b,y\n1,1,0.5\n2,2,3.25\n4,4,-7.5\n");
  ASSERT_TRUE(report.matrix);
  EXPECT_EQ(report.matrix->rank, 1);
  EXPECT_EQ(report.matrix->size, 2);
  EXPECT_TRUE(std::isinf(report.matrix->condition));
  EXPECT_NEAR(report.matrix->promised, report.start_loss - report.loss_floor, 1e-9);
}

}  // namespace
}  // namespace lipschitzlr::run
