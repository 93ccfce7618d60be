// The kernels for any processor of the family the build is for: SSE2 on x86-64, NEON on 64-bit ARM.
#define LIPSCHITZLR_ISA_SPACE base
#if defined(__aarch64__)
#define LIPSCHITZLR_ISA_LABEL "neon"
#else
#define LIPSCHITZLR_ISA_LABEL "plain"
#endif
#include "linear/kernel/isa.hpp"
