#pragma once
// The seam between the objective and the kernels of one instruction set: plain pointers and sizes only, because the
// sources behind it are compiled several times with different machine flags and must not share inline code with others.
// A kernel adds up one chunk of rows serially; which chunks there are, and their order, is the caller's.

#include <cstddef>
#include <cstdint>

namespace lipschitzlr::linear::kernel {

enum class Loss { squared, logistic, softmax, clipped_softmax };

constexpr std::size_t kMadeRows = 64;

// One chunk of rows and everything needed to add up its loss and gradient.
template <class Scalar>
struct Job {
  Loss loss = Loss::squared;
  std::size_t features = 0;
  std::size_t outputs = 0;

  const std::ptrdiff_t* rows = nullptr;  // the chunk's row numbers; null: first, first + 1, ...
  std::size_t first = 0;
  std::size_t count = 0;

  const Scalar* dense = nullptr;  // row by row without gaps
  // Instead of dense: writes rows of the source, as this job numbers them, into a block of kMadeRows at most.
  void (*make)(const void* source, const std::ptrdiff_t* rows, std::size_t first, std::size_t count,
               Scalar* to) = nullptr;
  const void* source = nullptr;
  Scalar* made = nullptr;         // the block
  const Scalar* lanes = nullptr;  // all rows again, as fill_lanes() lays them out; never with rows
  // For the sparse engine, compressed rows:
  const Scalar* values = nullptr;
  bool ones = false;                      // every stored value is 1
  const std::int32_t* columns = nullptr;  // ascending within a row
  const std::int32_t* starts = nullptr;
  // For a whole chunk of ones, the same by columns: column j has the rows members[member_starts[j]] ... of the chunk,
  // counted from its first. Sums over them need no stores, which is what a row-wise gradient waits for.
  const std::uint16_t* members = nullptr;
  const std::int32_t* member_starts = nullptr;

  const Scalar* targets = nullptr;       // squared, logistic
  const std::int32_t* labels = nullptr;  // softmax, clipped_softmax
  const Scalar* row_weights = nullptr;   // a factor of each row's loss; null: 1
  const Scalar* weights = nullptr;       // as pack() lays them out
  Scalar scale = 1;                      // 1/m: every residual is multiplied by it
  Scalar* scratch = nullptr;             // scratch_size() numbers; besides, with lanes a vector per
                                         // feature, with members a number per row of the chunk
  Scalar* gradient = nullptr;            // packed_size() numbers, overwritten
};

// How one kind of matrix is worked on. Weights and gradients have a layout of their own inside.
template <class Scalar>
struct Engine {
  std::size_t (*packed_size)(std::size_t features, std::size_t outputs);
  std::size_t (*scratch_size)(std::size_t features, std::size_t outputs);
  void (*pack)(std::size_t features, std::size_t outputs, const Scalar* weights, Scalar* packed);
  void (*unpack)(std::size_t features, std::size_t outputs, const Scalar* packed, Scalar* gradient);
  double (*evaluate)(const Job<Scalar>& job);               // returns the sum of the losses
  void (*scores)(const Job<Scalar>& job, Scalar* outcome);  // count x outputs, row by row
};

template <class Scalar>
struct Kernels {
  const char* name;
  Engine<Scalar> dense;
  Engine<Scalar> sparse;
  std::size_t (*lanes_size)(std::size_t rows, std::size_t features);  // of the copy behind Job::lanes
  void (*fill_lanes)(std::size_t rows, std::size_t features, const Scalar* dense, Scalar* lanes);
  void (*exp)(std::size_t count, const Scalar* in, Scalar* out);    // arguments <= 0
  void (*log1p)(std::size_t count, const Scalar* in, Scalar* out);  // arguments >= 0
};

// The kernels of base/instruction_set.hpp's choice.
template <class Scalar>
const Kernels<Scalar>& kernels();

// One per instruction set the build knows; the base one always exists.
namespace base {
extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
}  // namespace base
namespace avx2 {
extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
}  // namespace avx2
namespace avx512 {
extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
}  // namespace avx512

}  // namespace lipschitzlr::linear::kernel
