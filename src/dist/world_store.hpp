#pragma once
// The hub as the store that libtorch's process groups meet in.

#include <memory>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "dist/member.hpp"

namespace lipschitzlr::dist {

class WorldStore : public c10d::Store {
 public:
  WorldStore(std::shared_ptr<Member> member, std::chrono::milliseconds timeout)
      : c10d::Store(timeout), member_(std::move(member)) {}

  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;

 private:
  std::shared_ptr<Member> member_;
};

}  // namespace lipschitzlr::dist
