# SPDX-License-Identifier: Apache-2.0
"""Stands before the real torch for programs that do not use it (stage_costs.py)."""

raise ImportError("torch is hidden from programs that do not use it")
