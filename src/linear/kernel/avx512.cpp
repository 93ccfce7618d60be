// The kernels for x86-64 processors with AVX-512 (F, BW, DQ, VL).
#define LIPSCHITZLR_ISA_SPACE avx512
#define LIPSCHITZLR_ISA_LABEL "avx512"
#include "linear/kernel/isa.hpp"
