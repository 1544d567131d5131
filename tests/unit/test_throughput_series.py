"""The course of a workload: rates of single seconds, from what is told of progress."""

from __future__ import annotations

from fswizard.progress.workload_events import Progress, SeriesRecorder


def test_each_second_has_the_mean_of_what_was_told_in_it_in_three_digits() -> None:
    course = SeriesRecorder()
    course.begin(100.0)
    for at_s, rate in ((100.2, 1000.0), (100.7, 2000.0), (101.1, 1234.5), (101.9, 1234.5)):
        course.take(Progress(0.5, rate), at_s)
    assert (course.unit, course.rates) == ("B/s", (1500.0, 1230.0))


def test_a_second_in_which_it_got_nowhere_counts_as_nothing() -> None:
    course = SeriesRecorder()
    course.begin(0.0)
    for at_s, rate in ((0.5, 10.0), (1.5, None), (2.5, 30.0)):
        course.take(Progress(0.5, rate, "1/s"), at_s)
    assert (course.unit, course.rates) == ("1/s", (10.0, 0.0, 30.0))


def test_what_is_told_of_the_preparation_or_of_the_sync_is_left_out() -> None:
    course = SeriesRecorder()
    course.take(Progress(0.1, 77.0), 1.0)
    course.begin(2.0)
    course.take(Progress(0.5, 10.0, "1/s"), 2.5)
    course.begin(3.0)  # the sync
    course.take(Progress(1.0, 5e6, "B/s"), 3.5)
    assert (course.unit, course.rates) == ("1/s", (10.0,))


def test_a_workload_without_a_rate_has_no_course() -> None:
    course = SeriesRecorder()
    course.begin(0.0)
    course.take(Progress(0.5), 0.5)
    assert course.rates == ()
