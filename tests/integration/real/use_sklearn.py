# SPDX-License-Identifier: Apache-2.0
"""Cross validation in two processes of loky, a forest in two threads."""

from descriptors import descriptors
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

if __name__ == "__main__":
    data, labels = make_classification(2000, 20, random_state=1)
    print(cross_val_score(RandomForestClassifier(30, random_state=1), data, labels, cv=4, n_jobs=2).round(6).tolist())
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1, 10]}, n_jobs=2).fit(*load_iris(return_X_y=True))
    print(search.best_params_, round(search.best_score_, 6))
    print(RandomForestClassifier(50, random_state=1, n_jobs=2).fit(data, labels).feature_importances_.round(6).tolist())
    print(descriptors())
