#pragma once
// How good predictions are, and how good the best constant predictor is on the same rows: the mean for a number, the
// class frequencies for a class. A model that is no better has learned nothing.

#include <string>
#include <vector>

#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

struct Metrics {
  Index rows = 0;
  double loss = 0;           // of the family, without penalty
  double constant_loss = 0;  // the same for the best constant predictor on these rows
  // Regression: all finite numbers; classification leaves them 0.
  double rmse = 0, mae = 0, r2 = 0;
  // Classification.
  double accuracy = 0, majority_accuracy = 0;
  std::vector<std::vector<double>> confusion;  // weight of the rows by [true class][predicted class]
};

// scores: rows x outputs, x_i W. classes: the number of classes (2 for logistic); ignored for regression. With
// row_weights every mean is a weighted one.
Metrics measure(Family family, const DenseMatrix<double>& scores, const Vector<double>& targets, Index classes,
                const Vector<double>& row_weights = {});

// The loss of one row of scores, without penalty.
double row_loss(Family family, const DenseMatrix<double>& scores, double target, Index row);

// The loss of the best constant predictor alone: half the variance, or the entropy of the class frequencies.
double best_constant_loss(Family family, const Vector<double>& targets, const Vector<double>& row_weights = {});

// The class with the largest score (logistic: 1 when the score is positive); ties go to the lower index.
Index predicted_class(Family family, const DenseMatrix<double>& scores, Index row);

// Class probabilities of one row: sigmoid or softmax of the scores.
std::vector<double> probabilities(Family family, const DenseMatrix<double>& scores, Index row);

}  // namespace lipschitzlr::linear
