#pragma once
// Everything of lipschitzlr::core in one header: tables, Lipschitz constants, the rates that follow from them, and
// linear models. See linear/fit.hpp for a model in one call, bound/constant.hpp for a constant that explains itself.

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/bound/constant.hpp"
#include "lipschitzlr/bound/descent.hpp"
#include "lipschitzlr/bound/gradient.hpp"
#include "lipschitzlr/bound/loss.hpp"
#include "lipschitzlr/bound/norms.hpp"
#include "lipschitzlr/bound/weights.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/fit.hpp"
#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/linear/row_weights.hpp"
#include "lipschitzlr/rate/registry.hpp"
