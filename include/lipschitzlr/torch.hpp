#pragma once
// Everything of lipschitzlr::torch in one header, for a program that trains with libtorch. See nn/lipschitz_rate.hpp
// for a computed rate in a loop of your own, nn/optimizers.hpp for the paper's optimizers, nn/trainer.hpp for whole
// trainings.

#include "lipschitzlr/nn/auto.hpp"
#include "lipschitzlr/nn/baseline_optimizers.hpp"
#include "lipschitzlr/nn/evaluation_weights.hpp"
#include "lipschitzlr/nn/head.hpp"
#include "lipschitzlr/nn/keras.hpp"
#include "lipschitzlr/nn/lipschitz_rate.hpp"
#include "lipschitzlr/nn/models.hpp"
#include "lipschitzlr/nn/optimizers.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "lipschitzlr/nn/safetensors.hpp"
#include "lipschitzlr/nn/trainer.hpp"
