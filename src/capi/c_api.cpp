#include "lipschitzlr/c_api.h"

#include <array>
#include <bitset>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "base/json.hpp"
#include "capi/matrix.hpp"
#include "capi/options.hpp"
#include "capi/training.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/linear/model.hpp"

struct lipschitzlr_options {
  lipschitzlr::capi::Options options;
};

struct lipschitzlr_model {
  lipschitzlr::linear::Model model;
  lipschitzlr_summary summary;
};

namespace lipschitzlr::capi {
namespace {

std::string& error_text() {
  thread_local std::string text;
  return text;
}

// Keeps the sentence; where there is no memory for it, none.
int failed(int code, const char* sentence) noexcept {
  try {
    error_text() = sentence;
  } catch (...) {
    error_text().clear();
  }
  return code;
}

// Runs what a function of the interface does and turns exceptions into its return value.
template <class Body>
int call(const Body& body) noexcept {
  try {
    body();
    return 0;
  } catch (const Error& error) {
    return failed(error.exit_code(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(LIPSCHITZLR_UNEXPECTED, "there is not enough memory");
  } catch (const std::exception& error) {
    return failed(LIPSCHITZLR_UNEXPECTED, error.what());
  } catch (...) {
    return failed(LIPSCHITZLR_UNEXPECTED, "an unknown fault");
  }
}

template <class... Pointers>
void need(const Pointers*... pointers) {
  if ((... || (pointers == nullptr))) throw Error(Fault::usage, "a pointer that must not be NULL is NULL");
}

char* copy_of(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

lipschitzlr_summary summary_of(const linear::Model& model) {
  const nlohmann::json training = parse_json(model.training.empty() ? "{}" : model.training, "the training");
  return {static_cast<std::int32_t>(model.family),
          model.scaler.intercept ? 1 : 0,
          model.scaler.features(),
          model.weights.cols(),
          model.classes(),
          whole_or(training, "epochs", 0),
          training.value("converged", nlohmann::json()) == false ? 0 : 1};
}

lipschitzlr_model* handle_of(linear::Model model) {
  const lipschitzlr_summary summary = summary_of(model);
  return new lipschitzlr_model{std::move(model), summary};
}

constexpr std::size_t kMostClasses = 16;

// The classes of labels of one length. One byte of a label, at the place where the classes found so far differ most,
// says which class to compare it with: a search whose end depends on the label would cost more than the comparison.
class LabelClasses {
 public:
  LabelClasses(const char* labels, std::size_t bytes, std::int64_t* first_rows)
      : labels_(labels), bytes_(bytes), first_rows_(first_rows) {}

  std::size_t size() const { return size_; }

  // kMostClasses: it would be one more.
  std::size_t number_of(std::size_t row) {
    const char* const label = at(row);
    const std::size_t guess = class_by_byte_[static_cast<unsigned char>(label[probe_])];
    if (size_ > 0 && is_class(guess, label)) return guess;
    for (std::size_t number = 0; number < size_; ++number) {
      if (is_class(number, label)) return number;
    }
    if (size_ == kMostClasses) return kMostClasses;
    first_rows_[size_++] = static_cast<std::int64_t>(row);
    choose_probe();
    return size_ - 1;
  }

 private:
  const char* at(std::size_t row) const { return labels_ + row * bytes_; }
  const char* first_of(std::size_t number) const { return at(static_cast<std::size_t>(first_rows_[number])); }
  bool is_class(std::size_t number, const char* label) const {
    return std::memcmp(first_of(number), label, bytes_) == 0;
  }

  void choose_probe() {
    std::size_t most = 0;
    for (std::size_t place = 0; place < bytes_ && most < size_; ++place) {
      std::bitset<256> seen;
      for (std::size_t number = 0; number < size_; ++number)
        seen.set(static_cast<unsigned char>(first_of(number)[place]));
      if (seen.count() > most) most = seen.count(), probe_ = place;
    }
    for (std::size_t number = 0; number < size_; ++number) {
      class_by_byte_[static_cast<unsigned char>(first_of(number)[probe_])] = static_cast<unsigned char>(number);
    }
  }

  const char* labels_;
  std::size_t bytes_, size_ = 0, probe_ = 0;
  std::int64_t* first_rows_;
  std::array<unsigned char, 256> class_by_byte_{};
};

void predict(const linear::Model& model, const lipschitzlr_matrix& features, int what, int threads, double* result) {
  if (what < LIPSCHITZLR_SCORES || what > LIPSCHITZLR_PROBABILITIES || threads < 0) {
    throw Error(Fault::usage, "what or threads is out of range; see lipschitzlr_predict");
  }
  if (what == LIPSCHITZLR_PROBABILITIES && model.labels.empty()) {
    throw Error(Fault::usage, "a linear regression has no classes, so it has no probabilities");
  }
  const DenseMatrix<double> outputs = scores(model, view_of(features), static_cast<unsigned>(threads));
  if (what == LIPSCHITZLR_SCORES) {
    std::memcpy(result, outputs.data(), static_cast<std::size_t>(outputs.size()) * sizeof(double));
    return;
  }
  for (Index row = 0; row < outputs.rows(); ++row) {
    if (what == LIPSCHITZLR_PROBABILITIES) {
      const std::vector<double> shares = linear::probabilities(model.family, outputs, row);
      result = std::copy(shares.begin(), shares.end(), result);
    } else {
      *result++ = model.labels.empty() ? outputs(row, 0)
                                       : static_cast<double>(linear::predicted_class(model.family, outputs, row));
    }
  }
}

}  // namespace
}  // namespace lipschitzlr::capi

using namespace lipschitzlr;        // NOLINT(google-build-using-namespace): nothing but the interface follows
using namespace lipschitzlr::capi;  // NOLINT(google-build-using-namespace)

const char* lipschitzlr_version(void) { return LIPSCHITZLR_VERSION; }

const char* lipschitzlr_error(void) { return error_text().c_str(); }

void lipschitzlr_text_free(char* text) { std::free(text); }

int lipschitzlr_options_new(lipschitzlr_options** options) {
  return call([&] {
    need(options);
    *options = new lipschitzlr_options;
  });
}

int lipschitzlr_options_set(lipschitzlr_options* options, const char* name, const char* value) {
  return call([&] {
    need(options, name, value);
    set(options->options, name, value);
  });
}

void lipschitzlr_options_stop(lipschitzlr_options* options) {
  if (options != nullptr) options->options.stop = true;
}

void lipschitzlr_options_free(lipschitzlr_options* options) { delete options; }

int lipschitzlr_classes(const void* labels, int64_t rows, int64_t bytes, double* indices, int64_t* first_rows,
                        int64_t* classes) {
  return call([&] {
    need(labels, indices, first_rows, classes);
    if (rows < 1 || bytes < 1) throw Error(Fault::usage, "rows and bytes of labels must be 1 or more");
    LabelClasses found(static_cast<const char*>(labels), static_cast<std::size_t>(bytes), first_rows);
    bool too_many = false;
    for (std::int64_t row = 0; row < rows && !too_many; ++row) {
      const std::size_t number = found.number_of(static_cast<std::size_t>(row));
      indices[row] = static_cast<double>(number);
      too_many = number == kMostClasses;
    }
    *classes = too_many ? -1 : static_cast<std::int64_t>(found.size());
  });
}

int lipschitzlr_fit(lipschitzlr_options* options, const lipschitzlr_rows* rows, const lipschitzlr_model* start,
                    lipschitzlr_model** model) {
  return call([&] {
    need(options, rows, model);
    const Training training = training_of(*rows);
    *model = handle_of(train(options->options, training, start == nullptr ? nullptr : &start->model));
  });
}

int lipschitzlr_rates(lipschitzlr_options* options, const lipschitzlr_rows* rows, char** json) {
  return call([&] {
    need(options, rows, json);
    *json = copy_of(rates(options->options, training_of(*rows)));
  });
}

int lipschitzlr_model_load(const char* path, lipschitzlr_model** model) {
  return call([&] {
    need(path, model);
    *model = handle_of(linear::load_model(path));
  });
}

int lipschitzlr_model_save(const lipschitzlr_model* model, const char* path) {
  return call([&] {
    need(model, path);
    linear::save_model(model->model, path);
  });
}

int lipschitzlr_model_from_text(const char* text, lipschitzlr_model** model) {
  return call([&] {
    need(text, model);
    *model = handle_of(linear::model_from_json(text, "the text"));
  });
}

int lipschitzlr_model_text(const lipschitzlr_model* model, char** text) {
  return call([&] {
    need(model, text);
    *text = copy_of(linear::to_json(model->model));
  });
}

int lipschitzlr_model_training(const lipschitzlr_model* model, char** json) {
  return call([&] {
    need(model, json);
    *json = copy_of(model->model.training.empty() ? "{}" : model->model.training);
  });
}

void lipschitzlr_model_free(lipschitzlr_model* model) { delete model; }

int lipschitzlr_model_summary(const lipschitzlr_model* model, lipschitzlr_summary* summary) {
  return call([&] {
    need(model, summary);
    *summary = model->summary;
  });
}

int lipschitzlr_model_weights(const lipschitzlr_model* model, double* coefficients, double* intercepts) {
  return call([&] {
    need(model, coefficients, intercepts);
    const RawWeights raw = raw_weights(model->model);
    std::copy_n(raw.coefficients.data(), raw.coefficients.size(), coefficients);
    std::copy_n(raw.intercepts.data(), raw.intercepts.size(), intercepts);
  });
}

int lipschitzlr_predict(const lipschitzlr_model* model, const lipschitzlr_matrix* features, int32_t what,
                        int32_t threads, double* result) {
  return call([&] {
    need(model, features, result);
    predict(model->model, *features, what, threads, result);
  });
}
