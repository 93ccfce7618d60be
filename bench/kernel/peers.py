"""Loss and gradient as a careful NumPy programmer writes them: stable, no needless copies, float32 stays float32."""
import numpy as np


class Peer:
    """Mean loss and gradient of one problem; X is an array or a SciPy CSR matrix, W is n x k."""

    def __init__(self, family, X, y):
        self.family, self.X, self.m = family, X, X.shape[0]
        self.XT = X.T
        self.rows = np.arange(self.m)
        self.y = y.astype(np.intp) if family == "softmax" else y

    def linear(self, W):
        r = self.X @ W[:, 0]
        r -= self.y
        loss = 0.5 * float(r @ r) / self.m
        return loss, self.XT @ r / self.m

    def logistic(self, W):
        z = self.X @ W[:, 0]
        e = np.exp(-np.abs(z))
        losses = np.log1p(e)
        losses += np.maximum(z, 0)
        loss = (float(losses.sum()) - float(z @ self.y)) / self.m
        r = np.where(z >= 0, 1, e)
        e += 1
        r /= e
        r -= self.y
        return loss, self.XT @ r / self.m

    def softmax(self, W):
        P = self.X @ W
        P -= P.max(axis=1, keepdims=True)
        own = P[self.rows, self.y]
        np.exp(P, out=P)
        total = P.sum(axis=1, keepdims=True)
        loss = float(np.log(total).sum() - own.sum()) / self.m
        P /= total
        P[self.rows, self.y] -= 1
        P /= self.m
        return loss, self.XT @ P

    def __call__(self, W):
        return getattr(self, self.family)(W)


class Sklearn:
    """scikit-learn's own loss and gradient, the one its lbfgs solver calls; None where it has no such thing."""

    def __init__(self, family, X, y, outputs, threads):
        from sklearn._loss import HalfBinomialLoss, HalfMultinomialLoss, HalfSquaredError
        from sklearn.linear_model._linear_loss import LinearModelLoss

        base = {"linear": HalfSquaredError, "logistic": HalfBinomialLoss}.get(family)
        base = base() if base else HalfMultinomialLoss(n_classes=outputs)
        self.loss = LinearModelLoss(base_loss=base, fit_intercept=False)
        self.X, self.y, self.threads = X, y, threads

    def __call__(self, W):
        coefficients = W[:, 0] if W.shape[1] == 1 else np.asfortranarray(W.T)
        return self.loss.loss_gradient(coefficients, self.X, self.y, n_threads=self.threads)
