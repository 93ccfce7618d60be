#define LIPSCHITZLR_ISA_SPACE base
#include "base/block/isa.hpp"
