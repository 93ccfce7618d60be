#include "dist/world_store.hpp"

#include <algorithm>
#include <thread>

namespace lipschitzlr::dist {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(5);  // only while the processes connect

}  // namespace

void WorldStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  member_->ask(Kind::set, pack({key, {reinterpret_cast<const char*>(value.data()), value.size()}}));
}

std::vector<uint8_t> WorldStore::get(const std::string& key) {
  wait({key});
  const std::string found = member_->ask(Kind::look, pack({key}));
  return {found.begin() + 1, found.end()};
}

int64_t WorldStore::add(const std::string& key, int64_t value) {
  return std::stoll(member_->ask(Kind::add, pack({key, std::to_string(value)})));
}

bool WorldStore::deleteKey(const std::string& key) { return member_->ask(Kind::drop, pack({key})) == "1"; }

bool WorldStore::check(const std::vector<std::string>& keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [this](const std::string& key) { return member_->ask(Kind::look, pack({key}))[0] == '1'; });
}

int64_t WorldStore::getNumKeys() { return std::stoll(member_->ask(Kind::count, "")); }

void WorldStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  while (!check(keys)) {
    if (Clock::now() > deadline) member_->explain("a process did not say where it can be reached");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace lipschitzlr::dist
