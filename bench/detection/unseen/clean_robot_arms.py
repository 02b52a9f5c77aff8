# SPDX-License-Identifier: Apache-2.0
"""Welding robots: joints of many arms are moved until their tips reach a seam, by damped least squares, with torch."""

import math

import torch

import harness

ARMS, JOINTS = 192, 6
REACH = torch.tensor([0.4, 0.5, 0.45, 0.2, 0.15, 0.1], dtype=torch.float64)
TWISTS = torch.tensor([math.pi / 2, 0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, 0.0], dtype=torch.float64)


class Robots:
    """A batch of arms of the same make, each with its own joint angles."""

    def __init__(self, source):
        self.source = source
        self.angles = (torch.rand(ARMS, JOINTS, generator=source, dtype=torch.float64) - 0.5) * 1.5
        self.sines, self.cosines = TWISTS.sin(), TWISTS.cos()
        self.bottom = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64).expand(ARMS, 1, 4)

    def links(self, angles):
        """A matrix for each joint and arm, after Denavit and Hartenberg."""
        sine, cosine = angles.sin(), angles.cos()
        zero = torch.zeros_like(sine)
        rows = torch.stack([
            cosine, -sine * self.cosines, sine * self.sines, cosine * REACH,
            sine, cosine * self.cosines, -cosine * self.sines, sine * REACH,
            zero, self.sines + zero, self.cosines + zero, 0.1 + zero,
        ], dim=-1)
        return rows.view(ARMS, JOINTS, 3, 4)

    def poses(self, angles):
        """Where each joint is and how its axis points, from the base on; the last is the tip."""
        links = self.links(angles)
        pose = torch.eye(4, dtype=torch.float64).expand(ARMS, 4, 4)
        axes, places = [], []
        for joint in range(JOINTS):
            axes.append(pose[:, :3, 2])
            places.append(pose[:, :3, 3])
            pose = pose @ torch.cat([links[:, joint], self.bottom], dim=1)
        return torch.stack(axes, 1), torch.stack(places, 1), pose[:, :3, 3]

    def step(self, targets, damping=0.05):
        """A move of all joints towards the targets; returns the distances before it."""
        axes, places, tips = self.poses(self.angles)
        jacobian = torch.linalg.cross(axes, tips[:, None] - places).transpose(1, 2)
        errors = targets - tips
        square = jacobian @ jacobian.transpose(1, 2)
        square.diagonal(dim1=1, dim2=2).add_(damping ** 2)
        move = jacobian.transpose(1, 2) @ torch.linalg.solve(square, errors)[:, :, None]
        self.angles += move[:, :, 0].clamp(-0.3, 0.3)
        return errors.norm(dim=1)

    def reach(self, targets, steps=12, near=1e-4):
        for number in range(steps):
            distances = self.step(targets)
            if distances.max() < near:
                break
        return number, distances


def seam(source, points):
    """Points of a weld: part of a circle in space for each arm."""
    start = torch.rand(ARMS, 1, 1, generator=source, dtype=torch.float64) * 6
    along = start + torch.linspace(0, 1.2, points, dtype=torch.float64)[None, :, None]
    centre = torch.rand(ARMS, 1, 3, generator=source, dtype=torch.float64) * 0.3 + 0.25
    return centre + 0.2 * torch.cat([along.cos(), along.sin(), 0.5 * (2 * along).sin()], dim=2)


def work(seams):
    torch.set_num_threads(1)
    source = torch.Generator().manual_seed(7121)
    rows = []
    for _ in range(seams):
        robots, bends = Robots(source), 0.0
        for targets in seam(source, 8).unbind(1):
            before = robots.angles.clone()
            steps, distances = robots.reach(targets)
            bends += float((robots.angles - before).abs().sum())
            rows.append([steps, round(float(distances.mean()), 5), int((distances < 1e-3).sum()), round(bends, 3)])
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=210)
