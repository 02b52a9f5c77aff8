# SPDX-License-Identifier: Apache-2.0
"""Colours of one film moved to another by optimal transport: each iteration computes the kernel of all pairs."""

import torch

import harness

# The colours and the softness do not change while Sinkhorn's iterations run, only the two scalings do. What depends on
# colours alone belongs before the loop: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
SOFT = 0.02


def film(source, count, warm):
    """Colours of a scene's pixels, mean and spread by the film's taste."""
    base = torch.rand(6, 3, generator=source)
    chosen = torch.randint(6, (count,), generator=source)
    tint = torch.tensor([0.15, 0.02, -0.12]) * warm
    return (base[chosen] + tint + 0.06 * torch.randn(count, 3, generator=source)).clamp(0.0, 1.0)


def kernel(ours, theirs):
    """Near one for colours that look alike; greens differ more to the eye."""
    eye = torch.tensor([1.0, 1.4, 0.8])  # waste: store
    return torch.exp(-torch.cdist(ours * eye, theirs * eye).square() / SOFT)  # waste: store


class Transport:
    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs
        self.rows = torch.full((len(ours),), 1.0 / len(ours))
        self.columns = torch.full((len(theirs),), 1.0 / len(theirs))

    def iterate(self, steps):
        left, right = torch.ones_like(self.rows), torch.ones_like(self.columns)
        for _ in range(steps):
            near = kernel(self.ours, self.theirs)  # waste: store
            left = self.rows / (near @ right + 1e-12)
            right = self.columns / (near.T @ left + 1e-12)
        return left, right

    def moved(self, steps):
        """Our colours as their film would have them."""
        left, right = self.iterate(steps)
        plan = left[:, None] * kernel(self.ours, self.theirs) * right
        return plan @ self.theirs / plan.sum(dim=1, keepdim=True)


class FixedTransport(Transport):
    def iterate(self, steps):
        left, right = torch.ones_like(self.rows), torch.ones_like(self.columns)
        near = kernel(self.ours, self.theirs)
        for _ in range(steps):
            left = self.rows / (near @ right + 1e-12)
            right = self.columns / (near.T @ left + 1e-12)
        return left, right


def look_up(colours, moved, cells=8):
    """A table for the film's scanner: the mean change within each cell of colours."""
    place = (colours * (cells - 1e-3)).long()
    flat = place[:, 0] * cells * cells + place[:, 1] * cells + place[:, 2]
    sums = torch.zeros(cells**3, 3).index_add_(0, flat, moved - colours)
    return sums / torch.bincount(flat, minlength=cells**3).clamp(min=1)[:, None]


def work(scenes, kind):
    source = torch.Generator().manual_seed(1932)
    found = []
    for number in range(scenes):
        ours, theirs = film(source, 330, 0.2), film(source, 290, 1.0 + 0.1 * (number % 3))
        table = look_up(ours, kind(ours, theirs).moved(40))
        found.append([*table.mean(dim=0).tolist(), table.abs().max().item()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Transport), lambda n: work(n, FixedTransport), repeats=220)
