#pragma once
// Lipschitz constants of the loss: bounds L on ||grad f(w)|| as pure functions of norms (paper, sections 5 and 6), with
// rate 1/L. Each comes as published (the paper's text), as coded (what produced its tables) and certified (a bound that
// truly holds for every w, or for ||w|| <= K where K appears). m is the number of rows the loss averages over; for a
// network every norm is the largest over the mini-batches of an epoch.
//
//                         published and coded                  certified
//   linear regression     K/m ||X'X||_F +- 1/m ||y'X||         as published (coded: minus, absolute value)
//   network regression    1/m (K_a + ||y||) K_z                as published (coded: none)
//   logistic regression   1/2m ||X||_F                         1/m sum ||x_i||
//   binary network        1/2m K_z                             1/m sum ||a_i||
//   softmax regression    (k-1)/(k m) ||X||_F                  sqrt(2)/m sum ||x_i||
//   multiclass network    (k-1)/(k m) K_z                      sqrt(2)/m sum ||a_i||
//   + L2                  + lambda K                           as published
//   + Tikhonov            + 2 K ||Gamma^2||_F (coded: none)    + 2 K ||Gamma'Gamma||_2
//
// Where the authors' code has no such model, ConstantKind::coded throws Error (usage) rather than pass another number
// off as theirs, and so does ConstantKind::gradient, which is no constant of the loss (gradient.hpp). Counts that make
// no sense throw Error (usage), norms that are negative or not finite Error (data).

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/bound/constant.hpp"
#include "lipschitzlr/bound/tikhonov.hpp"

namespace lipschitzlr::bound {

// weight_bound is K, gram_norm ||X'X||_F, target_product ||y'X||.
Constant linear_regression(ConstantKind kind, double weight_bound, double gram_norm, double target_product, double m);

// output_bound is K_a, the largest ||a|| of the outputs of a batch; target_norm ||y||; penultimate_norm K_z.
Constant network_regression(ConstantKind kind, double output_bound, double target_norm, double penultimate_norm,
                            double m);

// feature_norm is ||X||_F, row_norm_sum the sum of ||x_i||; each kind uses one of the two and ignores the other.
Constant logistic_regression(ConstantKind kind, double feature_norm, double row_norm_sum, double m);
Constant softmax_regression(ConstantKind kind, double feature_norm, double row_norm_sum, double m, Index classes);

// penultimate_norm is K_z = ||A||_F, row_norm_sum the sum of ||a_i|| over the rows of A.
Constant binary_network(ConstantKind kind, double penultimate_norm, double row_norm_sum, double m);
Constant multiclass_network(ConstantKind kind, double penultimate_norm, double row_norm_sum, double m, Index classes);

// The constant once lambda/2 ||w||^2 is added to the loss, for ||w|| <= weight_bound (networks: the largest norm of a
// parameter). lambda = 0 changes nothing.
Constant with_l2(Constant constant, double lambda, double weight_bound);

// The constant once ||Gamma w||^2 is added, for n features. An empty penalty changes nothing.
Constant with_tikhonov(ConstantKind kind, Constant constant, const Tikhonov& tikhonov, Index n, double weight_bound);

}  // namespace lipschitzlr::bound
