# SPDX-License-Identifier: Apache-2.0
"""Attention within the windows of an image: the bias of each pair of places is fetched from its table pair by pair."""

import torch

import harness

# bias[:, i, j] = table[…] for all i and j is one indexing with a matrix of rows. The table is a parameter that may
# change, so keeping the bias is not the fix: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
SIDE, HEADS, WIDTH = 6, 3, 24


def relative_rows(side):
    """[i][j]: the row of the table for the places i and j of a window."""
    places = [(y, x) for y in range(side) for x in range(side)]
    span = 2 * side - 1
    return [[(y - v + side - 1) * span + x - u + side - 1 for v, u in places] for y, x in places]


class WindowAttention(torch.nn.Module):
    def __init__(self, side, heads, width):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.rows = relative_rows(side)
        self.register_buffer("index", torch.tensor(self.rows))
        self.table = torch.nn.Parameter(torch.randn((2 * side - 1) ** 2, heads) * 0.2)
        self.mixed = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)

    def bias(self):
        count = len(self.rows)
        bias = torch.empty(self.heads, count, count)
        for i, rows in enumerate(self.rows):
            for j, row in enumerate(rows):
                bias[:, i, j] = self.table[row]  # waste: load
        return bias

    def forward(self, windows):
        number, count, width = windows.shape
        mixed = self.mixed(windows).view(number, count, 3, self.heads, width // self.heads)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        weights = torch.softmax(query @ key.transpose(-1, -2) * self.scale + self.bias(), dim=-1)
        return self.out((weights @ value).transpose(1, 2).reshape(number, count, width))


class FixedAttention(WindowAttention):
    def bias(self):
        return self.table[self.index].permute(2, 0, 1)


def cut(frame, side):
    """(windows, places, channels) of a frame (height, width, channels)."""
    height, width, channels = frame.shape
    parts = frame.view(height // side, side, width // side, side, channels)
    return parts.permute(0, 2, 1, 3, 4).reshape(-1, side * side, channels)


class Encoder(torch.nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.embed = torch.nn.Linear(4, WIDTH)
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.attention = attention(SIDE, HEADS, WIDTH)
        self.feed = torch.nn.Sequential(torch.nn.Linear(WIDTH, 48), torch.nn.GELU(), torch.nn.Linear(48, WIDTH))

    def forward(self, frame):
        windows = cut(self.embed(frame), SIDE)
        windows = windows + self.attention(self.norm(windows))
        return windows + self.feed(windows)


def frames(count):
    """Frames of a camera above a belt: a bright part moves through noise."""
    for number in range(count):
        frame = 0.1 * torch.randn(24, 30, 4)
        left = number * 3 % 24
        frame[8:16, left:left + 6] += torch.tensor([0.9, 0.4, 0.1, 0.3])
        yield frame


def work(repeats, attention):
    torch.manual_seed(2103)
    encoder = Encoder(attention).eval()
    found = []
    with torch.no_grad():
        for number, frame in enumerate(frames(repeats)):
            codes = encoder(frame)
            if number % 10 == 9:  # adapts to the light
                encoder.attention.table.mul_(0.99).add_(0.01 * codes.mean())
            found.append([float(codes.mean()), float(codes.std())])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, WindowAttention), lambda n: work(n, FixedAttention), repeats=850)
