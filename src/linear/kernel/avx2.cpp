// The kernels for x86-64 processors with AVX2 and FMA.
#define LIPSCHITZLR_ISA_SPACE avx2
#define LIPSCHITZLR_ISA_LABEL "avx2"
#include "linear/kernel/isa.hpp"
