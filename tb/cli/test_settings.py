"""Settings that a machine cannot have are named as the user wrote them."""

import pytest

from ctm.tb.cli.invocation import error_line


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["input_cache.sets=48"], "--set input_cache.sets must be a power of two, not 48"),
        (["shared_cache.ways=17"], "--set shared_cache.ways must be 1..16, not 17"),
        (["conditional_cache.ways=0"], "--set conditional_cache.ways must be 1..16, not 0"),
        (["arithmetic.operands=2"], "--set arithmetic.operands must be 0..1, not 2"),
        (["presubtract.result=-1"], "--set presubtract.result must be 0..1, not -1"),
        (["output_cache.lines=8"], "--set output_cache.lines must be 16..64, not 8"),
        (["memory.latency=0"], "--set memory.latency must be 1..10000, not 0"),
        (["arithmetic.product=0", "arithmetic.partial_products=0"],
         "--set arithmetic.partial_products or arithmetic.product must be 1"),
    ],
)  # fmt: skip
def test_an_error_has_the_name_that_was_written(settings: list[str], message: str) -> None:
    options = [argument for setting in settings for argument in ("--set", setting)]
    assert message in error_line("exec", "--submit", "0,0", *options)
