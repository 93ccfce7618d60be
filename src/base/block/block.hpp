#pragma once
// The innermost loops of dense products and triangular solves in double, compiled once per instruction set: plain
// pointers and sizes only, because such sources must not share inline code with others.
// A panel is `panel` numbers a row, row after row: some columns of a matrix, zero past its last column.

#include <cstddef>

namespace lipschitzlr::block {

struct Kernels {
  static constexpr std::size_t kMostVectors = 6;

  std::size_t lanes;    // numbers in a vector
  std::size_t columns;  // of a block; a multiple of the lanes that divides the panel
  std::size_t panel;    // numbers in a row of a panel, a few vectors

  // c += a b' and c -= a b' over count rows of two panels, which may start at a vector of a and a group of columns of b
  // within their panels; c is stored by columns with the given stride. [vectors of a - 1]. Each element is added up in
  // the order of the rows.
  using Product = void (*)(const double* a, const double* b, std::size_t count, double* c, std::size_t stride);
  Product add[kMostVectors], subtract[kMostVectors];

  // The first width numbers of each row, times the row's weight (null: 1), to a panel.
  void (*pack_float)(const float* from, std::size_t stride, std::size_t rows, std::size_t width, const double* weights,
                     double* panel);
  void (*pack_double)(const double* from, std::size_t stride, std::size_t rows, std::size_t width,
                      const double* weights, double* panel);

  // Rows of a matrix of the given columns, scaled: (x - offset) factor, in double, and after them the number last
  // unless it is null. The rows are numbered, or first, first + 1, ... where numbers is null.
  void (*scale_float)(const float* from, std::size_t columns, const std::ptrdiff_t* numbers, std::size_t first,
                      std::size_t count, const double* offsets, const double* factors, const float* last, float* to);
  void (*scale_double)(const double* from, std::size_t columns, const std::ptrdiff_t* numbers, std::size_t first,
                       std::size_t count, const double* offsets, const double* factors, const double* last, double* to);

  // Cholesky of the first `columns` columns of a matrix of the given rows (a multiple of the lanes), lower triangle;
  // false when a pivot is not positive.
  bool (*factor)(double* c, std::size_t stride, std::size_t rows);
  // x <- L^-1 x and x <- L'^-1 x for a vector of size numbers, a multiple of the columns.
  void (*solve_lower)(const double* l, std::size_t stride, std::size_t size, double* x);
  void (*solve_upper)(const double* l, std::size_t stride, std::size_t size, double* x);
  // X <- (LL')^-1 X for as many columns as there are lanes, stored row by row.
  void (*solve_lanes)(const double* l, std::size_t stride, std::size_t size, double* x);
  // X <- L^-1 X for the first `columns` rows of a panel.
  void (*solve_rows)(const double* l, std::size_t stride, double* panel);
};

const Kernels& kernels();  // those of instruction_set()

// One per instruction set the build knows.
namespace base {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

}  // namespace lipschitzlr::block
