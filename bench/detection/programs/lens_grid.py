# SPDX-License-Identifier: Apache-2.0
"""Pictures of a camera on a car are straightened; the map of the lens is computed again for each picture."""

import torch
from torch.nn import functional

import harness

# A camera has one lens, so the places where pixels come from are the same for all pictures: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
HEIGHT, WIDTH = 96, 128


class Lens:
    """Brown and Conrady's model."""

    def __init__(self):
        self.radial = torch.tensor([-0.22, 0.06, -0.01]) * (1.0 + 0.2 * torch.rand(3))
        self.tangential = torch.randn(2) * 0.004
        self.centre = torch.randn(2) * 0.03
        self.kept = None

    def grid(self):
        rows, columns = torch.linspace(-1, 1, HEIGHT), torch.linspace(-1, 1, WIDTH)
        y, x = torch.meshgrid(rows, columns, indexing="ij")  # waste: store
        x, y = x - self.centre[0], y - self.centre[1]  # waste: store
        square = x * x + y * y  # waste: store
        stretch = 1.0 + square * (self.radial[0] + square * (self.radial[1] + square * self.radial[2]))  # waste: store
        p, q = self.tangential
        moved_x = x * stretch + 2.0 * p * x * y + q * (square + 2.0 * x * x)  # waste: store
        moved_y = y * stretch + 2.0 * q * x * y + p * (square + 2.0 * y * y)  # waste: store
        return torch.stack([moved_x + self.centre[0], moved_y + self.centre[1]], dim=-1)  # waste: store

    def grid_fixed(self):
        if self.kept is None:
            self.kept = self.grid()
        return self.kept


class Road:
    """Lane markings that bend and come nearer."""

    def __init__(self):
        self.bend, self.phase = torch.randn(1) * 0.3, 0.0
        self.across = torch.linspace(-1, 1, WIDTH).expand(HEIGHT, WIDTH)
        self.depth = torch.linspace(0.05, 1, HEIGHT)[:, None]

    def frame(self):
        self.phase += 0.3
        middle = self.bend * (1 - self.depth) ** 2
        lanes = torch.exp(-((self.across.abs() - 0.6 * self.depth - middle) / (0.04 * self.depth)) ** 2)
        dashes = (torch.sin(6.0 / self.depth + self.phase) > 0).float()
        return lanes * dashes + 0.05 * torch.randn(HEIGHT, WIDTH)


def straighten(picture, grid):
    return functional.grid_sample(picture[None, None], grid[None], align_corners=True)[0, 0]


def lane_places(picture):
    """Where the lanes are in the lower half, left and right."""
    lower = picture[HEIGHT // 2:].clamp(min=0.2) - 0.2
    places = torch.arange(WIDTH, dtype=torch.float32)
    left, right = lower[:, :WIDTH // 2], lower[:, WIDTH // 2:]
    mean_left = (left * places[:WIDTH // 2]).sum() / left.sum().clamp(min=1e-3)
    mean_right = (right * places[WIDTH // 2:]).sum() / right.sum().clamp(min=1e-3)
    return mean_left.item(), mean_right.item(), picture.std().item()


@torch.no_grad()
def work(drives, grid_of):
    torch.manual_seed(103)
    found = []
    for _ in range(drives):
        lens, road, places = Lens(), Road(), []
        for _ in range(80):
            places.append(lane_places(straighten(road.frame(), grid_of(lens))))
        found.append([sum(column) / len(column) for column in zip(*places)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Lens.grid), lambda n: work(n, Lens.grid_fixed), repeats=1100)
