"""Records and views: what they are, and their names."""

from amaranth import Signal, Value
from amaranth.lib import data

from ctm.rtl.lib.views import record, view


class _Pair(data.Struct):
    low: 3
    high: 5


def test_a_record_is_a_signal_with_its_variables_name() -> None:
    first, second = record(_Pair), record(data.ArrayLayout(4, 2), name="other", reset_less=True)
    lonely = record(_Pair)
    values = [Value.cast(each) for each in (first, second, lonely)]
    signals = [value for value in values if isinstance(value, Signal)]
    expected = [Signal(_Pair), Signal(data.ArrayLayout(4, 2))]
    assert [type(each) for each in (first, second)] == [type(each) for each in expected]
    assert [(len(signal), signal.reset_less) for signal in signals] == [(8, False), (8, True), (8, False)]
    assert [signal.name for signal in signals[1:]] == ["other", "lonely"]


def test_a_view_is_of_the_value_itself() -> None:
    value = Signal(8)
    fields = view(_Pair, value)
    assert isinstance(fields, _Pair)
    assert Value.cast(fields) is value
