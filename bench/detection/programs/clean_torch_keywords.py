# SPDX-License-Identifier: Apache-2.0
"""A small network learns to spot words in sequences of codes: attention over the whole batch, one optimiser."""

import torch

import harness

CODES, LENGTH, WIDTH, HEADS, WORDS = 40, 24, 32, 4, 5


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.mixed, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False), torch.nn.Linear(WIDTH, WIDTH)
        self.feed = torch.nn.Sequential(torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.GELU(), torch.nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, state, hidden):
        batch, length, _ = state.shape
        mixed = self.mixed(self.before(state)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        weights = query @ key.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        weights = weights.masked_fill(hidden[:, None, None, :], -1e4).softmax(dim=-1)
        state = state + self.out((weights @ value).transpose(1, 2).reshape(batch, length, WIDTH))
        return state + self.feed(self.between(state))


class Spotter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = torch.nn.Embedding(CODES, WIDTH, padding_idx=0)
        self.places = torch.nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.head = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, codes):
        hidden = codes == 0
        state = self.codes(codes) + self.places
        for block in self.blocks:
            state = block(state, hidden)
        shown = (~hidden).unsqueeze(-1).to(state.dtype)
        return self.head((state * shown).sum(dim=1) / shown.sum(dim=1))


class Speech:
    """Sequences of codes; each contains one word, three codes in a row."""

    def __init__(self, seed):
        self.source = torch.Generator().manual_seed(seed)
        self.words = torch.randint(1, CODES, (WORDS, 3), generator=self.source)

    def batch(self, size):
        draw = self.source
        codes = torch.randint(1, CODES, (size, LENGTH), generator=draw)
        lengths = torch.randint(8, LENGTH + 1, (size, 1), generator=draw)
        codes[torch.arange(LENGTH) >= lengths] = 0
        labels = torch.randint(WORDS, (size,), generator=draw)
        start = (torch.rand(size, 1, generator=draw) * (lengths - 3)).long()
        codes.scatter_(1, start + torch.arange(3), self.words[labels])
        return codes, labels


def learn(model, speech, steps):
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    losses = torch.zeros(steps)
    for step in range(steps):
        codes, labels = speech.batch(64)
        loss = torch.nn.functional.cross_entropy(model(codes), labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses[step] = loss.detach()
    return losses


def work(steps):
    torch.manual_seed(8)
    losses = learn(Spotter(), Speech(9), steps)
    return [part.mean().item() for part in losses.split(50)]


if __name__ == "__main__":
    harness.main(work, repeats=450)
