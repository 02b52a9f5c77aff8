# SPDX-License-Identifier: Apache-2.0
"""Strings of violins: how long a tone rings is learnt from measures of the string, by a process with a kernel."""

import torch

import harness

# Squared distances of the strings do not change while length and noise are fitted: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
STRINGS, MEASURES = 70, 60
STEPS = 25
EYE = torch.eye(STRINGS, dtype=torch.float64)


def strings(seed):
    """Measures of strings, scaled, and the seconds that they rang."""
    source = torch.Generator().manual_seed(seed)
    basis = torch.randn(MEASURES, 6, generator=source, dtype=torch.float64)
    factors = torch.randn(STRINGS, 6, generator=source, dtype=torch.float64)
    measures = factors @ basis.T + 0.3 * torch.randn(STRINGS, MEASURES, generator=source, dtype=torch.float64)
    measures = (measures - measures.mean(0)) / measures.std(0)
    ringing = 2 + torch.sin(factors[:, 0]) + 0.4 * factors[:, 1] + 0.1 * torch.randn(
        STRINGS, generator=source, dtype=torch.float64)
    return measures, ringing - ringing.mean()


def squares(measures):
    """The squared distance of each string from each other one, by groups of measures that are weighed alike."""
    weights = torch.linspace(1.5, 0.5, MEASURES, dtype=torch.float64)
    differences = measures[:, None, :] - measures[None, :, :]
    return (differences.square() * weights).sum(dim=2) / MEASURES


class Process:
    """Logarithms of the kernel's length, height and noise."""

    def __init__(self):
        self.logs = torch.tensor([0.0, 0.0, -1.0], dtype=torch.float64, requires_grad=True)
        self.optimizer = torch.optim.Adam([self.logs], lr=0.1)

    def covariance(self, distances):
        length, height, noise = self.logs.exp()
        return height * torch.exp(-0.5 * distances / length.square()) + (noise.square() + 1e-6) * EYE

    def loss(self, distances, ringing):
        """Negative logarithm of the likelihood."""
        factor = torch.linalg.cholesky(self.covariance(distances))
        solved = torch.linalg.solve_triangular(factor, ringing[:, None], upper=False)
        return 0.5 * solved.square().sum() + factor.diagonal().log().sum()

    def step(self, distances, ringing):
        self.optimizer.zero_grad()
        loss = self.loss(distances, ringing)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def fit(process, measures, ringing):
    for _ in range(STEPS):
        loss = process.step(squares(measures), ringing)  # waste: store
    return loss


def fit_fixed(process, measures, ringing):
    distances = squares(measures)
    for _ in range(STEPS):
        loss = process.step(distances, ringing)
    return loss


def predict(process, measures, ringing):
    """Mean error of strings that are left out, from the inverse of the covariance."""
    with torch.no_grad():
        inverse = torch.cholesky_inverse(torch.linalg.cholesky(process.covariance(squares(measures))))
        errors = (inverse @ ringing) / inverse.diagonal()
        return float(errors.abs().mean()), float(errors.abs().max())


def work(makers, fitting):
    torch.set_num_threads(1)
    rows = []
    for maker in range(makers):
        measures, ringing = strings(7111 + maker)
        process = Process()
        loss = fitting(process, measures, ringing)
        error, largest = predict(process, measures, ringing)
        rows.append([round(loss, 5), round(error, 6), round(largest, 6), *process.logs.detach().exp().tolist()])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, fit), lambda n: work(n, fit_fixed), repeats=92)
