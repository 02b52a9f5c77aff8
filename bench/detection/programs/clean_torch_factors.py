# SPDX-License-Identifier: Apache-2.0
"""Taste of a radio's listeners: factors of listeners and songs learn from each new hour of votes."""

import torch

import harness

LISTENERS, SONGS, WIDTH, VOTES = 5_000, 2_000, 48, 8_192


class Factors(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.listener = torch.nn.Embedding(LISTENERS, WIDTH)
        self.song = torch.nn.Embedding(SONGS, WIDTH)
        self.mixing = torch.nn.Linear(WIDTH, WIDTH)
        self.liking = torch.nn.Embedding(SONGS, 1)

    def forward(self, listener, song):
        mixed = torch.tanh(self.mixing(self.listener(listener)))
        return (mixed * self.song(song)).sum(dim=1) + self.liking(song).squeeze(1)


class Votes:
    """Made from hidden tastes that drift a little from hour to hour."""

    def __init__(self, generator):
        self.generator = generator
        self.listener = torch.randn(LISTENERS, 6, generator=generator)
        self.song = torch.randn(SONGS, 6, generator=generator)

    def hour(self):
        listener = torch.randint(LISTENERS, (VOTES,), generator=self.generator)
        song = torch.randint(SONGS, (VOTES,), generator=self.generator)
        noise = torch.randn(VOTES, generator=self.generator)
        vote = (self.listener[listener] * self.song[song]).sum(dim=1) / 2 + 0.5 * noise
        self.listener += 0.01 * torch.randn(LISTENERS, 6, generator=self.generator)
        return listener, song, vote


def learn(model, optimiser, listener, song, vote):
    optimiser.zero_grad()
    loss = torch.nn.functional.mse_loss(model(listener, song), vote)
    loss.backward()
    optimiser.step()
    return loss.item()


def work(repeats):
    torch.manual_seed(1920)
    votes, model = Votes(torch.Generator().manual_seed(1923)), Factors()
    optimiser = torch.optim.Adagrad(model.parameters(), lr=0.05)
    return [learn(model, optimiser, *votes.hour()) for _ in range(repeats)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    harness.main(work, repeats=1_900)
