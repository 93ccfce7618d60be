#pragma once
// Downloading a file by HTTP or HTTPS: into destination.part, checked, then moved into place, so that destination is
// either whole or not there. Part of lipschitzlr_store, which needs libcurl; the core does not.

#include <cstdint>
#include <functional>
#include <string>

namespace lipschitzlr::data {

inline constexpr std::uint64_t kMostDownloaded = std::uint64_t{256} << 20;  // no data set of ours is near it

struct DownloadOptions {
  std::string sha256 = {};               // what the file must have; empty: not known
  std::uint64_t size = 0;                // likewise in bytes; 0: not known
  std::uint64_t most = kMostDownloaded;  // bytes: stop when there are more
  long stall_seconds = 30;               // give up when nothing arrives for so long
  long connect_seconds = 15;             // give up when no connection is made in so long
  long redirects = 5;                    // follow at most so many
  // Continue a partial file of an earlier call. Only done with a known checksum, which would find a mix of two
  // versions.
  bool resume = true;
  // total 0: not known. Must not throw.
  std::function<void(std::uint64_t received, std::uint64_t total)> progress = {};
};

struct Downloaded {
  std::uint64_t size = 0;
  std::string sha256;
};

// The protocols that a redirect of this address may lead to: what is asked for by https must come by https.
std::string redirect_protocols(const std::string& url);

// Throws Error (data) with one sentence: the server's refusal, no connection, time-out, connection cut (the part is
// kept), too large, wrong size or checksum (the part is removed).
Downloaded download(const std::string& url, const std::string& destination, const DownloadOptions& options = {});

}  // namespace lipschitzlr::data
