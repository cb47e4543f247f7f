"""Timing of a lane: cycles after the operands.

Steps of about the same delay have their registers, or none, by the same setting of the configuration.
"""

from ctm.rtl.config import PipelineConfig


class Timing:
    """Cycles after the operands in which each step of a lane has its result."""

    def __init__(self, config: PipelineConfig) -> None:
        self.chosen = config.operands
        """Operands with modifiers; the words that do not need an arithmetic unit."""
        self.taken = self.chosen + config.operands
        """Exponents of products; a function's argument."""
        self.partial_products = self.taken + config.partial_products
        self.product = self.partial_products + config.product
        self.rounded_product = self.product + config.rounding
        """The words `lhs`."""
        self.compared = self.rounded_product + config.partial_products
        """Relations of words, distances of exponents."""
        self.function = self.chosen + config.raw_latency
        """A function, not yet rounded."""
        self.factor = self.function + config.addition + config.rounding
        """Factors of the post-multiplier, for example functions."""
        self.aligned = self.compared + config.alignment
        self.added = self.aligned + config.addition
        self.normalised = self.added + config.normalisation
        self.rounded = self.normalised + config.rounding
        self.result = self.rounded + config.result


def lane_latency(config: PipelineConfig) -> int:
    """Cycles from a lane's operands to its results: 11 if all steps have a register."""
    return Timing(config).result
