/* The C interface as a C program uses it. The oracles are computed here: the gradient of the penalised loss, which must
 * be 0 at the optimum, in plain loops over the features as they were given. */
#include "lipschitzlr/c_api.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 60, kColumns = 3, kMostClasses = 3 };

static int failures = 0;

#define EXPECT(holds)                                                                      \
  do {                                                                                     \
    if (!(holds)) {                                                                        \
      printf("%s:%d: expected %s; %s\n", __FILE__, __LINE__, #holds, lipschitzlr_error()); \
      ++failures;                                                                          \
    }                                                                                      \
  } while (0)

static double features[kRows][kColumns];
static double targets[kRows], weights[kRows];
static const char* const kLabels[] = {"red", "green", "blue"};

/* A fixed sequence of numbers between -1 and 1. */
static double next_number(void) {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / (1 << 23) - 1;
}

static void make_rows(int classes) {
  for (int i = 0; i < kRows; ++i) {
    double score = 0.5;
    for (int j = 0; j < kColumns; ++j) {
      features[i][j] = next_number() * (j + 1);
      score += features[i][j];
    }
    score += next_number();
    weights[i] = 1 + (i % 3);
    targets[i] = classes == 0 ? score : score < -0.5 ? 0 : score < 1 || classes == 2 ? 1 : 2;
  }
}

static lipschitzlr_rows all_rows(int classes) {
  const lipschitzlr_rows rows = {.features = {.rows = kRows, .columns = kColumns, .values = features},
                                 .targets = targets,
                                 .classes = classes,
                                 .labels = kLabels};
  return rows;
}

static lipschitzlr_options* options_with(const char* l2) {
  lipschitzlr_options* options = NULL;
  EXPECT(lipschitzlr_options_new(&options) == 0);
  EXPECT(lipschitzlr_options_set(options, "scale", "none") == 0);
  EXPECT(lipschitzlr_options_set(options, "l2", l2) == 0);
  EXPECT(lipschitzlr_options_set(options, "tolerance", "1e-12") == 0);
  EXPECT(lipschitzlr_options_set(options, "solver", "newton") == 0); /* exact to the last digits */
  return options;
}

static lipschitzlr_model* fitted(const char* l2, const lipschitzlr_rows* rows, const lipschitzlr_model* start) {
  lipschitzlr_options* options = options_with(l2);
  lipschitzlr_model* model = NULL;
  EXPECT(lipschitzlr_fit(options, rows, start, &model) == 0);
  lipschitzlr_options_free(options);
  return model;
}

/* Of a row, its residual for each output: prediction less target. */
static void residuals(const double* x, double target, int classes, const double* coefficients, const double* intercepts,
                      int outputs, double* result) {
  double sum = 0;
  for (int k = 0; k < outputs; ++k) {
    result[k] = intercepts[k];
    for (int j = 0; j < kColumns; ++j) result[k] += coefficients[k * kColumns + j] * x[j];
    sum += exp(result[k]);
  }
  for (int k = 0; k < outputs; ++k) {
    if (classes == 0) result[k] -= target;
    if (classes == 2) result[k] = 1 / (1 + exp(-result[k])) - target;
    if (classes > 2) result[k] = exp(result[k]) / sum - (target == k ? 1 : 0);
  }
}

/* The largest entry of the gradient of the weighted mean loss + l2/2 |w|^2. */
static double largest_gradient(int classes, double l2, const double* coefficients, const double* intercepts) {
  const int outputs = classes > 2 ? classes : 1;
  double gradient[kMostClasses][kColumns + 1] = {{0}}, total = 0, largest = 0;
  for (int i = 0; i < kRows; ++i) {
    double residual[kMostClasses];
    residuals(features[i], targets[i], classes, coefficients, intercepts, outputs, residual);
    total += weights[i];
    for (int k = 0; k < outputs; ++k) {
      for (int j = 0; j < kColumns; ++j) gradient[k][j] += weights[i] * residual[k] * features[i][j];
      gradient[k][kColumns] += weights[i] * residual[k];
    }
  }
  for (int k = 0; k < outputs; ++k) {
    for (int j = 0; j <= kColumns; ++j) {
      const double entry = gradient[k][j] / total + (j < kColumns ? l2 * coefficients[k * kColumns + j] : 0);
      largest = fmax(largest, fabs(entry));
    }
  }
  return largest;
}

static void test_the_gradient_vanishes_at_the_optimum(int classes) {
  make_rows(classes);
  lipschitzlr_rows rows = all_rows(classes);
  rows.row_weights = weights;
  lipschitzlr_model* model = fitted("0.05", &rows, NULL);
  lipschitzlr_summary shape;
  EXPECT(lipschitzlr_model_summary(model, &shape) == 0);
  EXPECT(shape.family == (classes == 0   ? LIPSCHITZLR_LINEAR
                          : classes == 2 ? LIPSCHITZLR_LOGISTIC
                                         : LIPSCHITZLR_SOFTMAX));
  EXPECT(shape.features == kColumns && shape.classes == classes && shape.outputs == (classes > 2 ? classes : 1));
  EXPECT(shape.intercept == 1 && shape.epochs > 0 && shape.converged == 1);
  double coefficients[kMostClasses * kColumns], intercepts[kMostClasses];
  EXPECT(lipschitzlr_model_weights(model, coefficients, intercepts) == 0);
  EXPECT(largest_gradient(classes, 0.05, coefficients, intercepts) < 1e-6);
  lipschitzlr_model_free(model);
}

static void test_predictions_follow_from_the_weights(void) {
  make_rows(3);
  const lipschitzlr_rows rows = all_rows(3);
  lipschitzlr_model* model = fitted("0.01", &rows, NULL);
  double coefficients[9], intercepts[3], scores[kRows][3], shares[kRows][3], predicted[kRows];
  EXPECT(lipschitzlr_model_weights(model, coefficients, intercepts) == 0);
  EXPECT(lipschitzlr_predict(model, &rows.features, LIPSCHITZLR_SCORES, 1, scores[0]) == 0);
  EXPECT(lipschitzlr_predict(model, &rows.features, LIPSCHITZLR_PROBABILITIES, 2, shares[0]) == 0);
  EXPECT(lipschitzlr_predict(model, &rows.features, LIPSCHITZLR_PREDICTIONS, 0, predicted) == 0);
  for (int i = 0; i < kRows; ++i) {
    int best = 0;
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      double score = intercepts[k];
      for (int j = 0; j < kColumns; ++j) score += coefficients[k * kColumns + j] * features[i][j];
      EXPECT(fabs(score - scores[i][k]) < 1e-9);
      if (scores[i][k] > scores[i][best]) best = k;
      sum += exp(scores[i][k]);
    }
    for (int k = 0; k < 3; ++k) EXPECT(fabs(shares[i][k] - exp(scores[i][k]) / sum) < 1e-12);
    EXPECT(predicted[i] == best);
  }
  lipschitzlr_model_free(model);
}

static void test_sparse_and_single_precision_rows_give_the_same_model(void) {
  make_rows(2);
  int32_t starts[kRows + 1], places[kRows * kColumns];
  float single[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    starts[i] = i * kColumns;
    for (int j = 0; j < kColumns; ++j) {
      places[i * kColumns + j] = j;
      single[i][j] = (float)features[i][j];
    }
  }
  starts[kRows] = kRows * kColumns;
  lipschitzlr_rows dense = all_rows(2), sparse = dense, halved = dense;
  sparse.features.row_starts = starts;
  sparse.features.column_numbers = places;
  halved.features.type = LIPSCHITZLR_FLOAT32;
  halved.features.values = single;
  double one[4], other[4];
  lipschitzlr_model* model = fitted("0.1", &dense, NULL);
  EXPECT(lipschitzlr_model_weights(model, one, one + 3) == 0);
  lipschitzlr_model_free(model);
  const lipschitzlr_rows* const others[] = {&sparse, &halved};
  for (int which = 0; which < 2; ++which) {
    model = fitted("0.1", others[which], NULL);
    EXPECT(lipschitzlr_model_weights(model, other, other + 3) == 0);
    for (int j = 0; j < 4; ++j) EXPECT(fabs(one[j] - other[j]) < (which == 0 ? 1e-9 : 1e-4));
    lipschitzlr_model_free(model);
  }
  places[1] = 0; /* twice the same column */
  lipschitzlr_options* options = options_with("0.1");
  EXPECT(lipschitzlr_fit(options, &sparse, NULL, &model) == LIPSCHITZLR_DATA);
  starts[0] = 1;
  EXPECT(lipschitzlr_fit(options, &sparse, NULL, &model) == LIPSCHITZLR_USAGE);
  lipschitzlr_options_free(options);
}

static void test_a_model_survives_its_file_and_its_text(void) {
  make_rows(2);
  lipschitzlr_rows rows = all_rows(2);
  const char* const names[] = {"length", "width", "height"};
  rows.feature_names = names;
  lipschitzlr_model *model = fitted("auto", &rows, NULL), *again = NULL;
  const char* const path = "capi_test_model.json"; /* in the folder that the test runs in */
  char *text = NULL, *after = NULL, *training = NULL;
  EXPECT(lipschitzlr_model_save(model, path) == 0 && lipschitzlr_model_load(path, &again) == 0);
  EXPECT(lipschitzlr_model_text(model, &text) == 0 && lipschitzlr_model_text(again, &after) == 0);
  EXPECT(strcmp(text, after) == 0 && strstr(text, "\"width\"") != NULL && strstr(text, "\"green\"") != NULL);
  lipschitzlr_model_free(again);
  lipschitzlr_text_free(after);
  EXPECT(lipschitzlr_model_from_text(text, &again) == 0 && lipschitzlr_model_text(again, &after) == 0);
  EXPECT(strcmp(text, after) == 0);
  EXPECT(lipschitzlr_model_training(again, &training) == 0 && strstr(training, "\"converged\":true") != NULL);
  text[strlen(text) / 2] = '\0';
  lipschitzlr_model* damaged = NULL;
  EXPECT(lipschitzlr_model_from_text(text, &damaged) == LIPSCHITZLR_DATA && damaged == NULL);
  lipschitzlr_text_free(training);
  lipschitzlr_text_free(text);
  lipschitzlr_text_free(after);
  lipschitzlr_model_free(model);
  lipschitzlr_model_free(again);
  remove(path);
  EXPECT(lipschitzlr_model_load(path, &again) == LIPSCHITZLR_DATA && strstr(lipschitzlr_error(), path) != NULL);
}

static void test_classes_are_counted_as_they_appear(void) {
  const char labels[][4] = {"no", "yes", "yes", "no", "may", "yes"};
  const double expected[] = {0, 1, 1, 0, 2, 1};
  double indices[20];
  int64_t first[16], classes = 0;
  EXPECT(lipschitzlr_classes(labels, 6, 4, indices, first, &classes) == 0 && classes == 3);
  EXPECT(memcmp(indices, expected, sizeof expected) == 0 && first[0] == 0 && first[1] == 1 && first[2] == 4);
  EXPECT(lipschitzlr_classes("abcdefghijklmnop", 16, 1, indices, first, &classes) == 0 && classes == 16);
  EXPECT(indices[15] == 15 && first[15] == 15);
  EXPECT(lipschitzlr_classes("abcdefghijklmnopq", 17, 1, indices, first, &classes) == 0 && classes == -1);
  EXPECT(lipschitzlr_classes(labels, 0, 4, indices, first, &classes) == LIPSCHITZLR_USAGE);
  EXPECT(lipschitzlr_classes(NULL, 6, 4, indices, first, &classes) == LIPSCHITZLR_USAGE);
}

static void test_a_start_at_the_optimum_needs_no_steps(void) {
  make_rows(3);
  const lipschitzlr_rows rows = all_rows(3);
  lipschitzlr_model *model = fitted("0.1", &rows, NULL), *again = fitted("0.1", &rows, model);
  char* training = NULL;
  EXPECT(lipschitzlr_model_training(again, &training) == 0 && strstr(training, "\"epochs\":0,") != NULL);
  lipschitzlr_text_free(training);
  lipschitzlr_rows fewer = all_rows(2);
  make_rows(2);
  lipschitzlr_options* options = options_with("0.1");
  lipschitzlr_model* none = NULL;
  EXPECT(lipschitzlr_fit(options, &fewer, model, &none) == LIPSCHITZLR_USAGE && none == NULL);
  lipschitzlr_options_free(options);
  lipschitzlr_model_free(model);
  lipschitzlr_model_free(again);
}

static void test_the_constant_of_the_gradient_is_the_largest_curvature(void) {
  /* One column of 1, 2, 3 and no intercept: X'X/m = 14/3. */
  const double x[] = {1, 2, 3}, y[] = {1, 2, 4};
  const lipschitzlr_rows rows = {.features = {.rows = 3, .columns = 1, .values = x}, .targets = y};
  lipschitzlr_options* options = options_with("0");
  EXPECT(lipschitzlr_options_set(options, "intercept", "no") == 0);
  char* json = NULL;
  EXPECT(lipschitzlr_rates(options, &rows, &json) == 0);
  const char* const gradient = json == NULL ? NULL : strstr(json, "\"name\":\"gradient\"");
  const char* const value = gradient == NULL ? NULL : strstr(gradient, "\"value\":");
  EXPECT(value != NULL && fabs(atof(value + 8) - 14.0 / 3) < 1e-8);
  lipschitzlr_text_free(json);
  lipschitzlr_options_free(options);
}

static void test_what_is_wrong_is_said(void) {
  make_rows(2);
  const lipschitzlr_rows rows = all_rows(2);
  lipschitzlr_options* options = options_with("0.1");
  lipschitzlr_model* model = NULL;
  EXPECT(lipschitzlr_options_set(options, "l2", "much") == LIPSCHITZLR_USAGE);
  EXPECT(strstr(lipschitzlr_error(), "l2: \"much\"") != NULL);
  EXPECT(lipschitzlr_options_set(options, "lambda", "1") == LIPSCHITZLR_USAGE);
  EXPECT(lipschitzlr_options_set(NULL, "l2", "1") == LIPSCHITZLR_USAGE);
  EXPECT(lipschitzlr_fit(options, NULL, NULL, &model) == LIPSCHITZLR_USAGE);
  EXPECT(lipschitzlr_options_set(options, "l2", "0.1") == 0);

  lipschitzlr_rows wrong = rows;
  wrong.features.rows = -1;
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_USAGE);
  wrong.features.rows = INT64_MAX;
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_USAGE);
  wrong = rows;
  wrong.features.type = 7;
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_USAGE);
  wrong = rows;
  wrong.features.values = NULL;
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_USAGE);
  wrong = rows;
  wrong.targets = NULL;
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_USAGE);
  wrong = rows;
  wrong.classes = 1; /* the targets are 0 and 1 */
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_DATA);
  const double kept = features[2][1];
  features[2][1] = NAN;
  EXPECT(lipschitzlr_fit(options, &rows, NULL, &model) == LIPSCHITZLR_DATA);
  EXPECT(strstr(lipschitzlr_error(), "row 3, column 2") != NULL);
  features[2][1] = kept;
  weights[0] = -1;
  wrong = rows;
  wrong.row_weights = weights;
  EXPECT(lipschitzlr_fit(options, &wrong, NULL, &model) == LIPSCHITZLR_DATA);
  EXPECT(model == NULL);
  lipschitzlr_options_free(options);
  lipschitzlr_options_free(NULL);
  lipschitzlr_model_free(NULL);
  lipschitzlr_options_stop(NULL);
}

static void test_a_training_that_is_stopped_says_so(void) {
  make_rows(2);
  const lipschitzlr_rows rows = all_rows(2);
  for (int choosing = 0; choosing < 2; ++choosing) {
    lipschitzlr_options* options = options_with(choosing ? "auto" : "0.1");
    lipschitzlr_model* model = NULL;
    lipschitzlr_options_stop(options);
    EXPECT(lipschitzlr_fit(options, &rows, NULL, &model) == LIPSCHITZLR_INTERRUPTED && model == NULL);
    lipschitzlr_options_free(options);
  }
}

static void* fail_and_compare(void* name) {
  for (int i = 0; i < 1000; ++i) {
    lipschitzlr_model* model = NULL;
    if (lipschitzlr_model_load(name, &model) != LIPSCHITZLR_DATA || strstr(lipschitzlr_error(), name) == NULL)
      return name;
  }
  return NULL;
}

static void test_every_thread_has_its_own_error(void) {
  char first[] = "/nowhere/first", second[] = "/nowhere/second";
  pthread_t thread;
  void* failed = NULL;
  EXPECT(pthread_create(&thread, NULL, fail_and_compare, first) == 0);
  EXPECT(fail_and_compare(second) == NULL);
  EXPECT(pthread_join(thread, &failed) == 0 && failed == NULL);
}

int main(void) {
  EXPECT(strchr(lipschitzlr_version(), '.') != NULL);
  test_the_gradient_vanishes_at_the_optimum(0);
  test_the_gradient_vanishes_at_the_optimum(2);
  test_the_gradient_vanishes_at_the_optimum(3);
  test_predictions_follow_from_the_weights();
  test_sparse_and_single_precision_rows_give_the_same_model();
  test_a_model_survives_its_file_and_its_text();
  test_classes_are_counted_as_they_appear();
  test_a_start_at_the_optimum_needs_no_steps();
  test_the_constant_of_the_gradient_is_the_largest_curvature();
  test_what_is_wrong_is_said();
  test_a_training_that_is_stopped_says_so();
  test_every_thread_has_its_own_error();
  if (failures == 0) puts("all tests passed");
  return failures == 0 ? 0 : 1;
}
