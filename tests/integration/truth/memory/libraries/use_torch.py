# SPDX-License-Identifier: Apache-2.0
"""A small network learns for some steps; tensors go to NumPy and back, and through pickle."""

import io

from without import needs

torch = needs("torch")
torch.manual_seed(1)
torch.set_num_threads(2)
network = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
data = torch.randn(512, 64)
wanted = data[:, :3].sum(dim=1, keepdim=True)
losses = []
for _ in range(100):
    optimizer.zero_grad()
    loss = ((network(data) - wanted) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
file = io.BytesIO()
torch.save(network.state_dict(), file)
file.seek(0)
network.load_state_dict(torch.load(file))
print(losses[-1] < losses[0] / 2, torch.from_numpy(data.numpy().T.copy()).shape)
