#include "lipschitzlr/data/catalogue/download.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/sha256.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

std::uint64_t size_or_zero(const std::string& path) {
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(path, missing);
  return missing ? 0 : size;
}

struct Transfer {
  CURL* handle = nullptr;
  std::FILE* file = nullptr;
  const DownloadOptions* options = nullptr;
  std::uint64_t kept = 0;  // bytes of an earlier call that the server agreed to continue
  std::uint64_t received = 0;
  bool begun = false, too_large = false;
  curl_off_t seen = 0;  // bytes at the last sign of life
  std::chrono::steady_clock::time_point alive = std::chrono::steady_clock::now();
  int write_failure = 0;
  char message[CURL_ERROR_SIZE] = {};

  long status() const {
    long code = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
};

std::size_t on_bytes(char* bytes, std::size_t, std::size_t count, void* pointer) {
  Transfer& transfer = *static_cast<Transfer*>(pointer);
  if (!transfer.begun && transfer.kept > 0 && transfer.status() != 206) {
    // The server sends everything again: what we had is in the way.
    transfer.kept = 0;
    if (std::fflush(transfer.file) != 0 || ftruncate(fileno(transfer.file), 0) != 0) return 0;
  }
  transfer.begun = true;
  transfer.received += count;
  transfer.too_large = transfer.kept + transfer.received > transfer.options->most;
  if (transfer.too_large) return 0;
  if (transfer.file == nullptr || std::fwrite(bytes, 1, count, transfer.file) != count) {
    transfer.write_failure = errno;
    return 0;
  }
  return count;
}

// Called at least once a second. libcurl's own limit on slow transfers looks at an average of several seconds, and so
// reacts late; silence is measured here.
int on_progress(void* pointer, curl_off_t total, curl_off_t received, curl_off_t, curl_off_t) {
  Transfer& transfer = *static_cast<Transfer*>(pointer);
  const auto now = std::chrono::steady_clock::now();
  if (received != transfer.seen) transfer.alive = now;
  transfer.seen = received;
  const auto whole = [&](curl_off_t bytes) { return static_cast<std::uint64_t>(bytes) + transfer.kept; };
  if (transfer.options->progress) {
    transfer.options->progress(whole(received), total > 0 ? whole(total) : transfer.options->size);
  }
  return now - transfer.alive > std::chrono::seconds(transfer.options->stall_seconds) ? 1 : 0;
}

void configure(Transfer& transfer, const std::string& url) {
  CURL* handle = transfer.handle;
  const DownloadOptions& options = *transfer.options;
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, redirect_protocols(url).c_str());
  curl_easy_setopt(handle, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options.most));
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, options.redirects);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "lipschitzlr");
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, options.connect_seconds);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, transfer.message);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
  if (transfer.kept > 0) curl_easy_setopt(handle, CURLOPT_RANGE, fmt::format("{}-", transfer.kept).c_str());
}

std::string reason(const Transfer& transfer, CURLcode code, const std::string& part) {
  switch (code) {
    case CURLE_FILESIZE_EXCEEDED:
      return fmt::format("the file has more than {} bytes, which no data set has", transfer.options->most);
    case CURLE_HTTP_RETURNED_ERROR:
      return transfer.status() == 404 ? "the server has no such file (404)"
                                      : fmt::format("the server answered with error {}", transfer.status());
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
      return fmt::format("the connection was cut after {} bytes; run the same command again{}", size_or_zero(part),
                         transfer.options->sha256.empty() ? "" : " to continue from there");
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format("no connection within {} s; try again later", transfer.options->connect_seconds);
    case CURLE_ABORTED_BY_CALLBACK:
      return fmt::format("the server sent nothing for {} s; try again later", transfer.options->stall_seconds);
    case CURLE_TOO_MANY_REDIRECTS:
      return fmt::format("the server redirects more than {} times", transfer.options->redirects);
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "only http and https addresses are fetched, and what began as https must stay https";
    case CURLE_WRITE_ERROR:
      return fmt::format("can't write {}: {}", part, std::strerror(transfer.write_failure));
    default:
      return transfer.message[0] != 0 ? transfer.message : curl_easy_strerror(code);
  }
}

struct Outcome {
  CURLcode code;
  long status;
  std::string reason;
};

Outcome transfer_once(const std::string& url, const std::string& part, const DownloadOptions& options,
                      std::uint64_t kept) {
  Transfer transfer;
  transfer.options = &options;
  transfer.kept = kept;
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (kept > 0 ? 0 : O_TRUNC);
  const int descriptor = open(part.c_str(), flags, 0644);
  transfer.file = descriptor < 0 ? nullptr : fdopen(descriptor, "ab");
  if (transfer.file == nullptr) {
    throw Error(Fault::data, fmt::format("{}: can't write: {}", part, std::strerror(errno)));
  }
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(), curl_easy_cleanup);
  transfer.handle = handle.get();
  configure(transfer, url);
  CURLcode code = curl_easy_perform(handle.get());
  if (transfer.file != nullptr && std::fclose(transfer.file) != 0 && code == CURLE_OK) {
    transfer.write_failure = errno;
    code = CURLE_WRITE_ERROR;
  }
  if (transfer.too_large) code = CURLE_FILESIZE_EXCEEDED;
  return {code, transfer.status(), code == CURLE_OK ? "" : reason(transfer, code, part)};
}

void check(const std::string& url, const std::string& part, const Downloaded& got, const DownloadOptions& options) {
  std::string wrong;
  if (options.size != 0 && got.size != options.size) {
    wrong = fmt::format("has {} bytes instead of {}", got.size, options.size);
  } else if (!options.sha256.empty() && got.sha256 != options.sha256) {
    wrong = fmt::format("has the SHA-256 checksum {} instead of {}", got.sha256, options.sha256);
  }
  if (wrong.empty()) return;
  std::error_code ignored;
  fs::remove(part, ignored);
  throw Error(Fault::data, fmt::format("{}: what arrived {}; it was discarded", url, wrong));
}

}  // namespace

std::string redirect_protocols(const std::string& url) { return url.starts_with("https:") ? "https" : "http,https"; }

Downloaded download(const std::string& url, const std::string& destination, const DownloadOptions& options) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK)
    throw Error(Fault::data, fmt::format("libcurl can't be initialised: {}", curl_easy_strerror(ready)));
  const std::string part = destination + ".part";
  std::error_code ignored;
  fs::create_directories(fs::path(destination).parent_path(), ignored);
  const bool resume = options.resume && !options.sha256.empty();
  const std::uint64_t kept = resume ? size_or_zero(part) : 0;
  Outcome outcome = transfer_once(url, part, options, kept);
  // 416: our part is as long as the file or longer. Begin again.
  if (kept > 0 && outcome.status == 416) outcome = transfer_once(url, part, options, 0);
  if (outcome.code != CURLE_OK) {
    if (size_or_zero(part) == 0 || outcome.code == CURLE_FILESIZE_EXCEEDED) fs::remove(part, ignored);
    throw Error(Fault::data, fmt::format("{}: {}", url, outcome.reason));
  }
  const Downloaded got{size_or_zero(part), sha256_of_file(part)};
  check(url, part, got, options);
  std::error_code failure;
  fs::rename(part, destination, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: can't write: {}", destination, failure.message()));
  return got;
}

}  // namespace lipschitzlr::data
