#include "lipschitzlr/dist/connect.hpp"

#include <ATen/Version.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "dist/rendezvous_client.hpp"
#include "dist/rendezvous_server.hpp"

namespace lipschitzlr::dist {
namespace {

using c10d::ProcessGroupGloo;

template <class Value>
at::Tensor tensor_over(std::span<Value> values, at::ScalarType type) {
  return at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, at::TensorOptions().dtype(type));
}

// The rendezvous server as the store through which libtorch's process groups connect.
class RendezvousStore : public c10d::Store {
 public:
  RendezvousStore(std::shared_ptr<RendezvousClient> client, std::chrono::milliseconds timeout)
      : c10d::Store(timeout), client_(std::move(client)) {}

  void set(const std::string& key, const std::vector<uint8_t>& value) override {
    client_->request(Kind::set, pack({key, {reinterpret_cast<const char*>(value.data()), value.size()}}));
  }
  std::vector<uint8_t> get(const std::string& key) override {
    wait({key});
    const std::string found = client_->request(Kind::get, pack({key}));
    return {found.begin() + 1, found.end()};
  }
  int64_t add(const std::string& key, int64_t value) override {
    return std::stoll(client_->request(Kind::add, pack({key, std::to_string(value)})));
  }
  bool deleteKey(const std::string& key) override { return client_->request(Kind::remove, pack({key})) == "1"; }
  bool check(const std::vector<std::string>& keys) override {
    return std::all_of(keys.begin(), keys.end(),
                       [this](const std::string& key) { return client_->request(Kind::get, pack({key}))[0] == '1'; });
  }
  int64_t getNumKeys() override { return std::stoll(client_->request(Kind::count, "")); }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    constexpr std::chrono::milliseconds kBetweenChecks(5);  // only while the processes connect
    const Clock::time_point deadline = Clock::now() + timeout;
    while (!check(keys)) {
      if (Clock::now() > deadline) client_->throw_blame("a process did not say where it can be reached");
      std::this_thread::sleep_for(kBetweenChecks);
    }
  }

 private:
  std::shared_ptr<RendezvousClient> client_;
};

class Nothing : public Communicator::Pending {
 public:
  void wait() override {}
};

// With one process there is nobody to exchange anything with.
class SingleProcess : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Pending> start_sum(std::span<float>) override { return std::make_unique<Nothing>(); }
  std::unique_ptr<Pending> start_sum(std::span<double>) override { return std::make_unique<Nothing>(); }
  void maximum(std::span<double>) override {}
  void broadcast(std::span<std::byte>) override {}
};

class GlooCommunicator : public Communicator {
 public:
  explicit GlooCommunicator(const WorldEnv& world);
  // First of all: when Gloo's connections close, the others ask the server why.
  ~GlooCommunicator() override { client_->leave(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Pending> start_sum(std::span<float> values) override;
  std::unique_ptr<Pending> start_sum(std::span<double> values) override;
  void maximum(std::span<double> values) override;
  void broadcast(std::span<std::byte> bytes) override;

 private:
  class Working;

  std::unique_ptr<Pending> reduce(at::Tensor tensor, c10d::ReduceOp::RedOpType how);
  // Whatever error Gloo reports, the server knows which rank is to blame.
  template <class Call>
  auto guarded(const Call& call) -> decltype(call());

  int rank_, size_;
  std::unique_ptr<RendezvousServer> server_;  // in rank 0 only; destroyed last
  std::shared_ptr<RendezvousClient> client_;
  std::unique_ptr<ProcessGroupGloo> group_;
};

class GlooCommunicator::Working : public Communicator::Pending {
 public:
  Working(GlooCommunicator& communicator, c10::intrusive_ptr<c10d::Work> work)
      : communicator_(communicator), work_(std::move(work)) {}

  // The values may be freed after this, so Gloo must be done with them; it always is after the timeout.
  ~Working() override {
    try {
      if (work_) work_->wait();
    } catch (const std::exception&) {
      // Nobody waits for this sum any more.
    }
  }

  void wait() override {
    const auto work = std::move(work_);
    if (work) communicator_.guarded([&] { return work->wait(); });
  }

 private:
  GlooCommunicator& communicator_;
  c10::intrusive_ptr<c10d::Work> work_;
};

template <class Call>
auto GlooCommunicator::guarded(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    client_->throw_blame(reason.substr(0, reason.find('\n')));
  }
}

c10::intrusive_ptr<ProcessGroupGloo::Options> gloo_options(const WorldEnv& world, std::chrono::milliseconds timeout) {
  auto options = ProcessGroupGloo::Options::create(timeout);
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  options->devices = {interface != nullptr && *interface != '\0'
                          ? ProcessGroupGloo::createDeviceForInterface(interface)
                          : ProcessGroupGloo::createDeviceForHostname(own_address_towards(world.address))};
  options->threads = 2;
  return options;
}

GlooCommunicator::GlooCommunicator(const WorldEnv& world) : rank_(world.rank), size_(world.size) {
  if (rank_ == 0) server_ = std::make_unique<RendezvousServer>(world);
  client_ = std::make_shared<RendezvousClient>(world);
  const std::chrono::milliseconds timeout(static_cast<std::int64_t>(std::ceil(world.timeout * 1000)));
  guarded([&] {
    const auto store = c10::make_intrusive<RendezvousStore>(client_, timeout);
    group_ = std::make_unique<ProcessGroupGloo>(store, rank_, size_, gloo_options(world, timeout));
  });
}

std::unique_ptr<Communicator::Pending> GlooCommunicator::reduce(at::Tensor tensor, c10d::ReduceOp::RedOpType how) {
  // All processes have as many values, so all of them return here.
  if (tensor.numel() == 0) return std::make_unique<Nothing>();
  client_->advance();
  c10d::AllreduceOptions options;
  options.reduceOp = how;
  std::vector<at::Tensor> tensors = {std::move(tensor)};
  return std::make_unique<Working>(*this, guarded([&] { return group_->allreduce(tensors, options); }));
}

std::unique_ptr<Communicator::Pending> GlooCommunicator::start_sum(std::span<float> values) {
  return reduce(tensor_over(values, at::kFloat), c10d::ReduceOp::SUM);
}

std::unique_ptr<Communicator::Pending> GlooCommunicator::start_sum(std::span<double> values) {
  return reduce(tensor_over(values, at::kDouble), c10d::ReduceOp::SUM);
}

void GlooCommunicator::maximum(std::span<double> values) {
  // A comparison with NaN is false, and it could get lost: it is sent as a flag of its own.
  std::vector<double> both(values.begin(), values.end());
  for (double& value : values) both.push_back(std::isnan(value) ? 1.0 : 0.0);
  reduce(tensor_over(std::span(both), at::kDouble), c10d::ReduceOp::MAX)->wait();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = both[values.size() + i] > 0 ? std::nan("") : both[i];
}

void GlooCommunicator::broadcast(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  client_->advance();
  std::vector<at::Tensor> tensors = {tensor_over(bytes, at::kByte)};
  Working(*this, guarded([&] { return group_->broadcast(tensors); })).wait();
}

}  // namespace

std::unique_ptr<Communicator> connect(const WorldEnv& world) {
  // Gloo writes to a rank that has ended as to any other: that must be an error, not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  if (world.size == 1) return std::make_unique<SingleProcess>();
  return std::make_unique<GlooCommunicator>(world);
}

std::string libtorch_build() {
  const std::string text = at::show_config();
  const std::size_t start = text.find("Build settings");
  return start == std::string::npos ? text : text.substr(start);
}

}  // namespace lipschitzlr::dist
