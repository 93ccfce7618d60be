#define LIPSCHITZLR_ISA_SPACE avx512
#include "base/block/isa.hpp"
