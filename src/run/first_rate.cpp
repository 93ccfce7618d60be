#include "run/first_rate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/base/together.hpp"

namespace lipschitzlr::run {
namespace {

constexpr const char* kCandidates[] = {"0.1", "0.5", "1"};
constexpr int kEpochs = 5;
constexpr std::size_t kTrialImages = 5120, kJudgeImages = 1000;

double try_rate(NetworkChoice choice, const char* candidate, const data::ImageSet& images,
                const std::vector<Index>& train, const std::vector<Index>& judge, Team* team) {
  choice.first_rate = candidate;
  nn::Trainer trainer(trainer_options(choice, images), images, train, team);
  try {
    for (int epoch = 0; epoch < kEpochs; ++epoch) trainer.run_epoch([](const nn::StepReport&) { return true; });
  } catch (const Error& error) {
    if (error.fault() != Fault::training) throw;
    sum_over(team, 1);  // throws again where a process was lost, not where the rate was bad
    return 0;
  }
  return trainer.evaluate(images, judge).accuracy;
}

}  // namespace

std::string search_first_rate(const NetworkChoice& choice, const data::ImageSet& images,
                              const std::vector<Index>& training, Team* team,
                              const std::function<void(const std::string&)>& say) {
  std::vector<Index> mixed = training;
  Random random(choice.seed);
  random.shuffle(std::span(mixed));
  const std::size_t judged = std::min(kJudgeImages, mixed.size() / 5);
  const std::size_t trained = std::min(kTrialImages, mixed.size() - judged);
  if (judged == 0) throw Error(Fault::usage, "--first-rate search: there are too few images for a trial");
  const auto end_of_judges = mixed.begin() + static_cast<std::ptrdiff_t>(judged);
  const std::vector<Index> judge(mixed.begin(), end_of_judges);
  const std::vector<Index> train(end_of_judges, end_of_judges + static_cast<std::ptrdiff_t>(trained));
  std::string best;
  double best_accuracy = -1;
  for (const char* candidate : kCandidates) {
    const double accuracy = try_rate(choice, candidate, images, train, judge, team);
    say(fmt::format("first rate {}: {:.2f} % after {} epochs of {} images", candidate, accuracy * 100, kEpochs,
                    trained));
    if (accuracy > best_accuracy) best = candidate;
    best_accuracy = std::max(accuracy, best_accuracy);
  }
  return best;
}

}  // namespace lipschitzlr::run
