# SPDX-License-Identifier: Apache-2.0
"""A small training whose data come from two worker processes."""

import torch
from descriptors import descriptors


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        made = torch.Generator().manual_seed(index)
        numbers = torch.randn(64, generator=made)
        return numbers, numbers.sum().reshape(1)


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(2)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(3):
        total = 0.0
        for numbers, expected in torch.utils.data.DataLoader(Numbers(), batch_size=32, num_workers=2):
            loss = torch.nn.functional.mse_loss(model(numbers), expected)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, round(total, 4))
    print(descriptors())
