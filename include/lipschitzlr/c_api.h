/* Linear, logistic and softmax regression for callers that are not C++: Python's ctypes, R, Julia, plain C.
 *
 * Every function that returns an int returns 0, or what went wrong: LIPSCHITZLR_USAGE and so on. lipschitzlr_error()
 * then has one sentence about the last such call of the same thread. No exception leaves the library. Memory that the
 * caller passes is read during the call only, and never changed; nothing is copied that the caller holds as described
 * here. Different threads may use different handles at the same time, and one model at the same time to predict; no
 * threads and no locks are left behind by a call, so that a process may fork.
 *
 *   lipschitzlr_options* options;
 *   lipschitzlr_model* model;
 *   lipschitzlr_rows rows = {.features = {.rows = 150, .columns = 4, .values = x}, .targets = y};
 *   if (lipschitzlr_options_new(&options) != 0 || lipschitzlr_options_set(options, "l2", "0.1") != 0 ||
 *       lipschitzlr_fit(options, &rows, NULL, &model) != 0)
 *     puts(lipschitzlr_error());
 */
#ifndef LIPSCHITZLR_C_API_H
#define LIPSCHITZLR_C_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LIPSCHITZLR_UNEXPECTED = 1, /* out of memory, or a fault of the library */
  LIPSCHITZLR_USAGE = 2,      /* an option or argument is wrong */
  LIPSCHITZLR_DATA = 3,       /* numbers or a file are not usable */
  LIPSCHITZLR_TRAINING = 4,   /* the loss became NaN or infinite */
  LIPSCHITZLR_INTERRUPTED = 130
};

enum { LIPSCHITZLR_FLOAT64 = 0, LIPSCHITZLR_FLOAT32 = 1 };                                   /* types of numbers */
enum { LIPSCHITZLR_LINEAR = 0, LIPSCHITZLR_LOGISTIC = 1, LIPSCHITZLR_SOFTMAX = 2 };          /* families of models */
enum { LIPSCHITZLR_SCORES = 0, LIPSCHITZLR_PREDICTIONS = 1, LIPSCHITZLR_PROBABILITIES = 2 }; /* of rows */

/* One example a row, row after row; or compressed sparse rows, whose columns ascend within a row. */
typedef struct {
  int64_t rows, columns;
  int32_t type;                  /* LIPSCHITZLR_FLOAT64 or LIPSCHITZLR_FLOAT32, of values */
  const void* values;            /* rows x columns; sparse: the stored ones */
  const int32_t* row_starts;     /* NULL: dense. Sparse: rows + 1 places in values */
  const int32_t* column_numbers; /* sparse: of each stored value, from 0 */
} lipschitzlr_matrix;

/* What to learn from. */
typedef struct {
  lipschitzlr_matrix features;
  const double* targets;            /* one per row: a number or, with labels, the index of one */
  int64_t classes;                  /* how many labels; 0: the targets are numbers */
  const char* const* labels;        /* UTF-8, each different; two make logistic regression, more softmax */
  const double* row_weights;        /* how much each row counts; NULL: all alike */
  const char* const* feature_names; /* one per column, UTF-8, each different; NULL: none */
} lipschitzlr_rows;

typedef struct {
  int32_t family;    /* LIPSCHITZLR_LINEAR, ... */
  int32_t intercept; /* 1 or 0 */
  int64_t features;
  int64_t outputs;   /* scores of a row: classes for softmax, otherwise 1 */
  int64_t classes;   /* labels; 0 for a linear model */
  int64_t epochs;    /* of the training; 0 when it is not known */
  int32_t converged; /* 0 when the training ended before */
} lipschitzlr_summary;

typedef struct lipschitzlr_options lipschitzlr_options;
typedef struct lipschitzlr_model lipschitzlr_model;

const char* lipschitzlr_version(void);
const char* lipschitzlr_error(void); /* of the last call of this thread that failed; valid until its next call */
void lipschitzlr_text_free(char* text);

/* How to train; as `lipschitzlr fit` would unless set. One object serves one training at a time. The names are those of
 * the command line, and so are the values:
 *   scale        auto, none, sum, standard, minmax           l2         auto, or a number of 0 or more
 *   intercept    yes, no                                     l1         a number of 0 or more
 *   l1_share     of what l2 auto chooses: with r, lambda makes lambda (r |w|_1 + (1 - r)/2 |w|^2)
 *   solver       auto, newton, lbfgs, coordinate, gd, ...    folds, path  of l2 auto
 *   epochs       at most so many passes                      threads    0: one for each core; the bits stay the same
 *   tolerance    as a share of the loss                      seed       of folds and shuffles
 *   note         any text, which the model's file keeps in "training" */
int lipschitzlr_options_new(lipschitzlr_options** options);
int lipschitzlr_options_set(lipschitzlr_options* options, const char* name, const char* value);
void lipschitzlr_options_stop(
    lipschitzlr_options* options); /* from any thread: the training that runs with them ends */
void lipschitzlr_options_free(lipschitzlr_options* options);

/* The classes of labels that are items of one length in memory, one per row, such as NumPy's texts: of each row the
 * index of its class, which are counted as they appear, and of each class its first row. classes: at most 16 are found,
 * -1 says that there are more; first_rows: 16. */
int lipschitzlr_classes(const void* labels, int64_t rows, int64_t bytes, double* indices, int64_t* first_rows,
                        int64_t* classes);

/* Trains. start: a model to begin with the weights of, or NULL. float32 features are trained on in float32. With l2
 * auto the choice is that of `lipschitzlr fit`, and does not depend on the order of the rows. */
int lipschitzlr_fit(lipschitzlr_options* options, const lipschitzlr_rows* rows, const lipschitzlr_model* start,
                    lipschitzlr_model** model);

/* The Lipschitz constants of the training problem as JSON: {"constants": [{"name", "value", "rate", "formula",
 * "inputs": {symbol: value}}, ...]}, to be given to lipschitzlr_text_free. l2 auto counts as 0. */
int lipschitzlr_rates(lipschitzlr_options* options, const lipschitzlr_rows* rows, char** json);

/* The file that the command line writes and reads, and the same as text, to be given to lipschitzlr_text_free. */
int lipschitzlr_model_load(const char* path, lipschitzlr_model** model);
int lipschitzlr_model_save(const lipschitzlr_model* model, const char* path);
int lipschitzlr_model_from_text(const char* text, lipschitzlr_model** model);
int lipschitzlr_model_text(const lipschitzlr_model* model, char** text);
/* How it was trained and what came out, as JSON, to be given to lipschitzlr_text_free: what the file has in "training".
 */
int lipschitzlr_model_training(const lipschitzlr_model* model, char** json);
void lipschitzlr_model_free(lipschitzlr_model* model);

int lipschitzlr_model_summary(const lipschitzlr_model* model, lipschitzlr_summary* summary);
/* Of the features as they were given, not scaled: scores = features * coefficients' + intercepts. coefficients: outputs
 * x features, intercepts: outputs. */
int lipschitzlr_model_weights(const lipschitzlr_model* model, double* coefficients, double* intercepts);
/* what: LIPSCHITZLR_SCORES, rows x outputs; LIPSCHITZLR_PREDICTIONS, a number or the index of a label per row;
 * LIPSCHITZLR_PROBABILITIES, rows x classes. threads: 0: one for each core. */
int lipschitzlr_predict(const lipschitzlr_model* model, const lipschitzlr_matrix* features, int32_t what,
                        int32_t threads, double* result);

#ifdef __cplusplus
}
#endif
#endif
