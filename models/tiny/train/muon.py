"""Muon: momentum whose matrices are orthogonalised by Newton-Schulz steps.

Jordan et al., https://kellerjordan.github.io/posts/muon; the scale that makes
an update as large as one of AdamW is that of arXiv 2502.16982.
"""
import torch


def orthogonalise(m):
    """m [..., r, c] -> about U V^T of its singular value decomposition."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = m.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        y = x @ x.mT
        x = a * x + (b * y + c * y @ y) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """All parameters are matrices or stacks of matrices."""

    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.0):
        super().__init__(parameters, dict(lr=lr, momentum=momentum,
                                          weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                shapes.setdefault(p.shape[-2:], []).append(p)
            for (r, c), ps in shapes.items():
                momenta = [self.state[p].setdefault(
                    "momentum", torch.zeros_like(p)) for p in ps]
                grads = [p.grad for p in ps]
                torch._foreach_lerp_(momenta, grads, 1 - group["momentum"])
                ahead = torch._foreach_lerp(grads, momenta, group["momentum"])
                stacked = torch.cat([a.view(-1, r, c) for a in ahead])
                update = orthogonalise(stacked).float()
                update *= 0.2 * max(r, c) ** 0.5
                split = update.split([p.numel() // (r * c) for p in ps])
                torch._foreach_mul_(ps, 1 - group["lr"] *
                                    group["weight_decay"])
                torch._foreach_add_(ps, [u.view_as(p) for u, p in
                                         zip(split, ps)], alpha=-group["lr"])
