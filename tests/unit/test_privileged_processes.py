"""What root asks again for a while, on simulated time."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from fswizard.privileged import programs
from tests.fakes.clock import SimulatedClock

BUSY, DONE, BAD = (1, b"Device is BUSY\n"), (0, b""), (1, b"No such device\n")


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> SimulatedClock:
    simulated = SimulatedClock()
    monkeypatch.setattr(programs, "time", simulated)
    return simulated


def answering(*answers: tuple[int, bytes]) -> Iterator[subprocess.CompletedProcess[bytes]]:
    """One after the other; the last one again and again."""
    while True:
        for code, stderr in answers:
            yield subprocess.CompletedProcess(("mdadm",), code, b"", stderr)


def test_it_is_asked_once_or_until_it_is_over_or_given_up_with_the_last_answer(time: SimulatedClock) -> None:
    began_s, answers = time.monotonic(), iter(range(100))
    assert programs.poll(lambda: "yes", bool, 10.0) == "yes"
    assert time.monotonic() == began_s, "once where that is enough"
    assert programs.poll(lambda: next(answers), lambda number: number == 7, 10.0) == 7
    began_s = time.monotonic()
    assert programs.poll(lambda: time.monotonic() - began_s, lambda _: False, 10.0) == pytest.approx(10.0, abs=0.02)


@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ((DONE,), 0, b""),
        ((BUSY, BUSY, DONE), 0, b""),
        ((BUSY, BAD, DONE), 1, b"No such device\n"),
        ((BUSY,), 1, b"Device is BUSY\n"),
    ],
    ids=["free", "let go later", "another failure", "never let go"],
)
def test_a_program_runs_again_while_something_is_in_use(
    answers: tuple[tuple[int, bytes], ...], code: int, said: bytes, capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    runs = answering(*answers)
    monkeypatch.setattr(programs, "run", lambda command: next(runs))
    assert programs.run_until_free(("mdadm", "--stop"), (b"busy",), 10.0) == code
    assert capfdbinary.readouterr().err == said, "of its last run alone"


@pytest.mark.usefixtures("time")
def test_a_daemon_that_stays_is_told_from_one_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([[11, 12], [12], []])
    monkeypatch.setattr(programs, "pids_of", lambda name: next(left))
    monkeypatch.setattr("os.waitpid", lambda pid, options: (0, 0))
    assert programs.gone("mount.ntfs-3g", 20.0)
    monkeypatch.setattr(programs, "pids_of", lambda name: [12])
    assert not programs.gone("mount.ntfs-3g", 20.0)
