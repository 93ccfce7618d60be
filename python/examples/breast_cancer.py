"""Breast cancer, benign or malignant, by 30 measurements: LipschitzClassifier as it comes, beside a search over
penalties and scalings in scikit-learn's GridSearchCV.

    python breast_cancer.py
"""
from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split

from lipschitzlr import LipschitzClassifier


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

    model = LipschitzClassifier().fit(X_train, y_train)
    share, l2 = model.score(X_test, y_test), model.certificate_.l2
    print(f"as it comes: {share:.1%} of {len(y_test)} unseen rows, l2 = {l2:.2g}")
    print(f"  {model.certificate_.verdict}")
    rate = model.rates_["gradient"]
    print(f"  1/beta = {rate.rate:.3g}, beta = {rate.formula}")

    grid = {"l2": [1e-4, 1e-3, 1e-2, 1e-1, 1], "scale": ["standard", "minmax"]}
    search = GridSearchCV(LipschitzClassifier(), grid, scoring="neg_log_loss", n_jobs=2).fit(X_train, y_train)
    print(f"searched:    {search.best_estimator_.score(X_test, y_test):.1%}, {search.best_params_}")


if __name__ == "__main__":
    main()
