# SPDX-License-Identifier: Apache-2.0
"""Denoises heart sounds with a Haar wavelet; the tensors are read and written element by element."""

import torch

import harness

CATEGORY = "slice underutilization"
KIND = "load"
HALF = 0.5**0.5


def heart_sound(generator, samples):
    time = torch.arange(samples, dtype=torch.float64) / 500.0
    beats = torch.exp(-((time % 0.8 - 0.2) ** 2) / 0.002) + 0.6 * torch.exp(-((time % 0.8 - 0.5) ** 2) / 0.001)
    return beats * torch.sin(time * 250.0) + 0.1 * torch.randn(samples, generator=generator, dtype=torch.float64)


def split(signal):
    half = len(signal) // 2
    smooth, detail = [], []
    for k in range(half):
        left, right = signal[2 * k], signal[2 * k + 1]  # waste: load
        smooth.append((left + right) * HALF)  # waste: load
        detail.append((left - right) * HALF)  # waste: load
    return torch.stack(smooth), torch.stack(detail)


def split_fixed(signal):
    left, right = signal[0::2], signal[1::2]
    return (left + right) * HALF, (left - right) * HALF


def join(smooth, detail):
    pairs = torch.stack([(smooth + detail) * HALF, (smooth - detail) * HALF], dim=1)
    return pairs.reshape(-1)


def denoise(signal, divide, levels=4):
    details = []
    for _ in range(levels):
        signal, detail = divide(signal)
        details.append(torch.nn.functional.softshrink(detail, 0.2))
    for detail in reversed(details):
        signal = join(signal, detail)
    return signal


def work(repeats, divide):
    generator = torch.Generator().manual_seed(12)
    found = []
    for _ in range(repeats):
        sound = heart_sound(generator, 2048)
        clean = denoise(sound, divide)
        found.append([float(clean.std()), float((sound - clean).abs().mean())])
    return found


if __name__ == "__main__":
    with torch.no_grad():
        harness.main(lambda n: work(n, split), lambda n: work(n, split_fixed), repeats=320)
