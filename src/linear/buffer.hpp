#pragma once
// Numbers at an address that suits the widest vectors (64 bytes); grows, never shrinks, and does not keep its content.

#include <cstddef>
#include <memory>
#include <new>

namespace lipschitzlr::linear {

template <class Scalar>
class Buffer {
 public:
  Scalar* reserve(std::size_t size) {
    if (size > size_) {
      numbers_.reset(static_cast<Scalar*>(::operator new[](size * sizeof(Scalar), kAlignment)));
      size_ = size;
    }
    return numbers_.get();
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Release {
    void operator()(Scalar* numbers) const { ::operator delete[](numbers, kAlignment); }
  };
  std::unique_ptr<Scalar[], Release> numbers_;
  std::size_t size_ = 0;
};

}  // namespace lipschitzlr::linear
