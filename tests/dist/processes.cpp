#include "dist/processes.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/dist/connect.hpp"

extern char** environ;

namespace lipschitzlr::test {
namespace {

constexpr const char* kWork = "LIPSCHITZLR_TEST_WORK";
constexpr const char* kFile = "LIPSCHITZLR_TEST_FILE";
constexpr const char* kArgument = "LIPSCHITZLR_TEST_ARGUMENT";

std::map<std::string, Work>& works() {
  static std::map<std::string, Work> all;
  return all;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int do_work(const std::string& name) {
  std::ofstream out(std::getenv(kFile));
  try {
    const std::unique_ptr<Communicator> communicator = dist::connect(dist::world_env().value());
    works().at(name)(*communicator, out);
    return 0;
  } catch (const Error& error) {
    out << error.what();
    return error.exit_code();
  } catch (const std::exception& error) {
    out << "unexpected: " << error.what();
    return 70;
  }
}

// gtest sets this up before the first test: a copy does its work here, and ends.
class WorkInstead : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* name = std::getenv(kWork);
    if (name != nullptr) std::_Exit(do_work(name));
  }
};
[[maybe_unused]] const auto* const registered = ::testing::AddGlobalTestEnvironment(new WorkInstead);

}  // namespace

RegisteredWork::RegisteredWork(const std::string& name, Work work) { works()[name] = work; }

std::string argument() {
  const char* text = std::getenv(kArgument);
  return text == nullptr ? "" : text;
}

Process::Process(const std::string& work, const Environment& environment) : start_(now()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "lipschitzlr-process-XXXXXX").string();
  const int file = mkstemp(pattern.data());
  if (file >= 0) close(file);
  file_ = pattern;
  Environment all = environment;
  all[kWork] = work;
  all[kFile] = file_;
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) words.emplace_back(*word);
  for (const auto& [name, value] : all) {
    std::erase_if(words, [&](const std::string& word) { return word.starts_with(name + "="); });
    words.push_back(name + "=" + value);
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  id_ = vfork();
  if (id_ == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    char program[] = "/proc/self/exe";
    char* arguments[] = {program, nullptr};
    execve(program, arguments, pointers.data());
    _exit(127);
  }
}

Process::~Process() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  std::filesystem::remove(file_);
}

Ended Process::wait() {
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), written(), now() - start_};
}

void Process::signal(int number) { kill(id_, number); }

std::string Process::written() const { return read_file(file_); }

Environment environment_of(int rank, int size, int port, double timeout) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)},
          {"LIPSCHITZLR_TIMEOUT", fmt::format("{}", timeout)},
          {"OMP_NUM_THREADS", "1"}};
}

int free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool bound = bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(listener);
  return bound ? ntohs(address.sin_port) : 0;
}

std::vector<Ended> run_processes(int size, const std::string& work, const ProcessOptions& options) {
  const int port = free_port();
  std::vector<std::unique_ptr<Process>> processes;
  for (int rank = 0; rank < size; ++rank) {
    Environment environment = environment_of(rank, size, port, options.timeout);
    environment[kArgument] = options.argument;
    if (options.changes) {
      for (const auto& [name, value] : options.changes(rank)) environment[name] = value;
    }
    processes.push_back(std::make_unique<Process>(work, environment));
  }
  std::vector<Ended> ended;
  for (const auto& process : processes) ended.push_back(process->wait());
  return ended;
}

}  // namespace lipschitzlr::test
