#include "lipschitzlr/dist/connect.hpp"

#include <ATen/Version.h>
#include <ATen/ops/from_blob.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "dist/hub.hpp"
#include "dist/world_store.hpp"

namespace lipschitzlr::dist {
namespace {

using c10d::ProcessGroupGloo;

template <class Value>
at::Tensor tensor_over(std::span<Value> values, at::ScalarType type) {
  return at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, at::TensorOptions().dtype(type));
}

class Nothing : public Communicator::Pending {
 public:
  void wait() override {}
};

// A team of one has nothing to say to anybody.
class Alone : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Pending> start_sum(std::span<float>) override { return std::make_unique<Nothing>(); }
  std::unique_ptr<Pending> start_sum(std::span<double>) override { return std::make_unique<Nothing>(); }
  void maximum(std::span<double>) override {}
  void broadcast(std::span<std::byte>) override {}
};

class GlooTeam : public Communicator {
 public:
  explicit GlooTeam(const Surroundings& surroundings);
  // The farewell comes first: seeing Gloo's connections close, the others ask the hub why.
  ~GlooTeam() override { member_->leave(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Pending> start_sum(std::span<float> values) override;
  std::unique_ptr<Pending> start_sum(std::span<double> values) override;
  void maximum(std::span<double> values) override;
  void broadcast(std::span<std::byte> bytes) override;

 private:
  class Working;

  std::unique_ptr<Pending> reduce(at::Tensor tensor, c10d::ReduceOp::RedOpType how);
  // Whatever Gloo complains of, the hub knows whose fault it is.
  template <class Call>
  auto guarded(const Call& call) -> decltype(call());

  int rank_, size_;
  std::unique_ptr<Hub> hub_;  // in rank 0 only; the last to go
  std::shared_ptr<Member> member_;
  std::unique_ptr<ProcessGroupGloo> group_;
};

class GlooTeam::Working : public Communicator::Pending {
 public:
  Working(GlooTeam& communicator, c10::intrusive_ptr<c10d::Work> work)
      : communicator_(communicator), work_(std::move(work)) {}

  // The values may go once this is gone, so Gloo must be done with them; it always is after the timeout.
  ~Working() override {
    try {
      if (work_) work_->wait();
    } catch (const std::exception&) {
      // The wait() that was not made would have told.
    }
  }

  void wait() override {
    const auto work = std::move(work_);
    if (work) communicator_.guarded([&] { return work->wait(); });
  }

 private:
  GlooTeam& communicator_;
  c10::intrusive_ptr<c10d::Work> work_;
};

template <class Call>
auto GlooTeam::guarded(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    member_->explain(reason.substr(0, reason.find('\n')));
  }
}

c10::intrusive_ptr<ProcessGroupGloo::Options> gloo_options(const Surroundings& surroundings,
                                                           std::chrono::milliseconds timeout) {
  auto options = ProcessGroupGloo::Options::create(timeout);
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  options->devices = {interface != nullptr && *interface != '\0'
                          ? ProcessGroupGloo::createDeviceForInterface(interface)
                          : ProcessGroupGloo::createDeviceForHostname(own_address_towards(surroundings.address))};
  options->threads = 2;
  return options;
}

GlooTeam::GlooTeam(const Surroundings& surroundings) : rank_(surroundings.rank), size_(surroundings.size) {
  if (rank_ == 0) hub_ = std::make_unique<Hub>(surroundings);
  member_ = std::make_shared<Member>(surroundings);
  const std::chrono::milliseconds timeout(static_cast<std::int64_t>(std::ceil(surroundings.timeout * 1000)));
  guarded([&] {
    const auto store = c10::make_intrusive<WorldStore>(member_, timeout);
    group_ = std::make_unique<ProcessGroupGloo>(store, rank_, size_, gloo_options(surroundings, timeout));
  });
}

std::unique_ptr<Communicator::Pending> GlooTeam::reduce(at::Tensor tensor, c10d::ReduceOp::RedOpType how) {
  // All processes have as many values, so all of them leave here.
  if (tensor.numel() == 0) return std::make_unique<Nothing>();
  member_->advance();
  c10d::AllreduceOptions options;
  options.reduceOp = how;
  std::vector<at::Tensor> tensors = {std::move(tensor)};
  return std::make_unique<Working>(*this, guarded([&] { return group_->allreduce(tensors, options); }));
}

std::unique_ptr<Communicator::Pending> GlooTeam::start_sum(std::span<float> values) {
  return reduce(tensor_over(values, at::kFloat), c10d::ReduceOp::SUM);
}

std::unique_ptr<Communicator::Pending> GlooTeam::start_sum(std::span<double> values) {
  return reduce(tensor_over(values, at::kDouble), c10d::ReduceOp::SUM);
}

void GlooTeam::maximum(std::span<double> values) {
  // A comparison with what is not a number is false, and it could get lost: it travels as a sign of its own.
  std::vector<double> both(values.begin(), values.end());
  for (double& value : values) both.push_back(std::isnan(value) ? 1.0 : 0.0);
  reduce(tensor_over(std::span(both), at::kDouble), c10d::ReduceOp::MAX)->wait();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = both[values.size() + i] > 0 ? std::nan("") : both[i];
}

void GlooTeam::broadcast(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  member_->advance();
  std::vector<at::Tensor> tensors = {tensor_over(bytes, at::kByte)};
  Working(*this, guarded([&] { return group_->broadcast(tensors); })).wait();
}

}  // namespace

std::unique_ptr<Communicator> connect(const Surroundings& surroundings) {
  // Gloo writes to a rank that has ended as to any other: that is to be an error with a name, not the end of this one.
  std::signal(SIGPIPE, SIG_IGN);
  if (surroundings.size == 1) return std::make_unique<Alone>();
  return std::make_unique<GlooTeam>(surroundings);
}

std::string libtorch_build() {
  const std::string text = at::show_config();
  const std::size_t start = text.find("Build settings");
  return start == std::string::npos ? text : text.substr(start);
}

}  // namespace lipschitzlr::dist
