#define LIPSCHITZLR_ISA_SPACE avx2
#include "base/block/isa.hpp"
