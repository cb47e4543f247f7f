"""Figures of other machines, beside which ours stand."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Other:
    """What another machine reaches; simulation rates per second of the host, lowest and highest, if it was simulated.

    Vortex and Nyuzi are open RTL, measured on Verilator on a computer like ours, with kernels written for each, every
    element of the result checked; Nyuzi has no fused multiply-add, so its peak is that of what it has. The RV770 is the
    next generation of this architecture; its figure is that of the chip (SGEMM).
    """

    name: str
    peak_share: float
    cycle_rates: tuple[float, float] | None = None
    operation_rates: tuple[float, float] | None = None


OTHERS = (
    Other(name="Vortex, 4 lanes: matmul 64", peak_share=0.21, cycle_rates=(59e3, 73e3), operation_rates=(0.11e6,) * 2),
    Other(
        name="Nyuzi, 16 lanes: matmul 64", peak_share=0.35, cycle_rates=(210e3, 340e3), operation_rates=(1.2e6, 1.9e6)
    ),
    Other(name="RV770, silicon: SGEMM", peak_share=0.71),
)
