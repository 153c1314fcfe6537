"""The limiter, step by step: what takes the limit down, and what takes it up."""

from __future__ import annotations

from valor_cli.models.scheduler.concurrency import Limiter, Slot


class Line:
    """Requests under way, the oldest first, at a server that serves so many at a time."""

    def __init__(self, most: int, serves: int | None = None) -> None:
        self.limiter = Limiter(most)
        self.serves = most if serves is None else serves
        self.slots: list[Slot] = []

    def fill(self) -> None:
        while self.limiter.in_flight < self.limiter.limit:
            self.slots.append(self.limiter.start())

    def refuse(self, at: int = -1) -> None:
        self.limiter.refused(self.slots.pop(at), 0.0, 1.0)

    def succeed(self, times: int = 1) -> None:
        """So many replies; what the server does not serve is refused before each."""
        for _ in range(times):
            self.fill()
            while len(self.slots) > self.serves:
                self.refuse()
            self.limiter.replied(self.slots.pop(0))

    @property
    def levels(self) -> list[int]:
        return [slot.level for slot in self.slots]

    def serve_and_fail(self, times: int) -> None:
        for _ in range(times):
            self.fill()
            self.limiter.failed(self.slots.pop(0))


# --- levels ---------------------------------------------------------------------------------


def test_a_request_goes_out_at_the_level_of_all_that_are_under_way_and_not_refused() -> None:
    line = Line(3)
    line.fill()
    assert line.levels == [1, 2, 3]
    line.limiter.replied(line.slots.pop(0))
    line.fill()
    assert line.levels == [2, 3, 3]
    line = Line(5)
    line.fill()
    line.refuse(1)
    # Those after it were 3, 4 and 5.
    assert line.levels == [1, 2, 3, 4]


# --- down -----------------------------------------------------------------------------------


def test_a_single_refusal_changes_nothing() -> None:
    line = Line(8)
    line.fill()
    line.refuse()
    assert line.limiter.limit == 8
    assert line.limiter.paused_until == 0


def test_refusals_of_all_above_a_level_take_the_limit_there() -> None:
    # 8 go out and 3 are served. Which of the others is told first does not matter.
    for at in (3, -1):
        line = Line(8)
        line.fill()
        for _ in range(5):
            line.refuse(at)
        assert line.limiter.limit == line.limiter.in_flight == 3


def test_the_limit_never_falls_below_one() -> None:
    line = Line(2)
    for _ in range(6):
        line.fill()
        line.refuse()
    assert line.limiter.limit == 1


def test_stray_refusals_of_a_level_that_is_served_change_nothing() -> None:
    line = Line(8)
    line.succeed(16)
    for _ in range(50):
        # One of five: always fewer than a quarter of those served at the level.
        line.fill()
        line.refuse()
        line.succeed(4)
    assert line.limiter.limit == 8
    assert line.limiter.paused_until == 0


def test_four_in_a_row_are_no_strays() -> None:
    line = Line(8)
    line.succeed(100)
    for expected in (8, 8, 8, 7):
        line.fill()
        line.refuse()
        assert line.limiter.limit == expected


def test_other_failures_are_no_refusals() -> None:
    line = Line(8)
    line.succeed(100)
    for _ in range(10):
        line.fill()
        line.refuse()
        line.serve_and_fail(4)
    assert line.limiter.limit == 8


# --- up -------------------------------------------------------------------------------------


def shrunk(serves: int = 4) -> Line:
    """At most 32, and 4 found."""
    line = Line(32)
    line.fill()
    line.serves = serves
    for _ in range(28):
        line.refuse()
    assert line.limiter.limit == 4
    return line


def test_it_grows_by_one_after_half_as_many_successes() -> None:
    line = shrunk(serves=32)
    limits = []
    for _ in range(8):
        line.succeed()
        limits.append(line.limiter.limit)
    # 2 replies with 4 under way, 3 with 5 (2.5), 3 with 6.
    assert limits == [4, 5, 5, 5, 6, 6, 6, 7]


def test_successes_while_slots_are_free_are_no_reason_to_grow() -> None:
    line = shrunk()
    while line.slots:
        line.limiter.replied(line.slots.pop())
    for _ in range(100):
        line.limiter.replied(line.limiter.start())
    assert line.limiter.limit == 4


def test_a_level_refused_again_is_tried_half_as_often_down_to_once_in_128_replies() -> None:
    line = shrunk()
    needed = []
    for _ in range(9):
        needed.append(tried(line))
        line.fill()
        line.refuse()
        assert line.limiter.limit == 4, "one refusal ends a trial"
    # 4 / 2 = 2, once more as soon, and twice that after each further refusal.
    assert needed == [2, 2, 4, 8, 16, 32, 64, 128, 128]


def tried(line: Line) -> int:
    """Replies until the level above is tried."""
    successes, limit = 0, line.limiter.limit
    while line.limiter.limit == limit:
        line.succeed()
        successes += 1
    return successes


def refuse_a_stray(line: Line, served: int) -> None:
    """One at the limit, after so many that were served and failed otherwise."""
    line.serve_and_fail(served)
    line.fill()
    line.refuse()


def test_where_there_are_strays_two_refusals_end_a_trial() -> None:
    line = shrunk()
    # Of 11 below the level on trial, 8 and 2 replies were served.
    refuse_a_stray(line, 8)
    assert tried(line) == 2
    for expected in (5, 4):
        line.fill()
        line.refuse()
        assert line.limiter.limit == expected


def test_where_half_are_refused_they_are_no_strays() -> None:
    line = shrunk()
    for _ in range(8):
        refuse_a_stray(line, 1)
    assert line.limiter.limit < 4
    limit = line.limiter.limit
    tried(line)
    line.fill()
    line.refuse()
    assert line.limiter.limit == limit


def test_a_level_that_was_served_lately_is_tried_again_soon_until_that_is_forgotten() -> None:
    line = Line(8)
    line.succeed(100)
    for _ in range(4):
        line.fill()
        line.refuse()
    assert line.limiter.limit == 7
    # 7 of these went out at level 8.
    refuse_a_stray(line, 16)
    needed = []
    for _ in range(5):
        needed.append(tried(line))
        for _ in range(2):
            line.fill()
            line.refuse()
        assert line.limiter.limit == 7
    # 7 / 2 = 3.5. Of the 4 × 8 last outcomes at least 4 have to be served at 8.
    assert needed == [4, 4, 4, 4, 7]


def test_a_level_is_not_given_up_for_a_stray_when_others_are_served_at_it() -> None:
    line = shrunk(serves=5)
    line.succeed(2)
    assert line.limiter.limit == 5
    line.succeed(2)
    line.fill()
    # Of the five under way, those who went out before the last at level 5, and were not refused:
    # two, and one more was answered. Fewer than three would not do.
    assert line.levels.count(5) == 3
    line.limiter.replied(line.slots.pop(0))
    line.fill()
    line.refuse()
    assert line.limiter.limit == 5


def test_a_level_that_holds_makes_it_grow_at_the_usual_pace_again() -> None:
    line = shrunk()
    for _ in range(7):
        while line.limiter.limit == 4:
            line.succeed()
        line.fill()
        line.refuse()
    line.serves = 32
    line.succeed(128)
    assert line.limiter.limit == 5
    # 2 × 5 replies are enough to see that it holds; from then on it goes up as at first.
    line.succeed(10 + 3 + 3)
    assert line.limiter.limit >= 6


def test_a_lower_level_that_is_refused_is_tried_again_soon() -> None:
    line = shrunk()
    for _ in range(6):
        while line.limiter.limit == 4:
            line.succeed()
        line.fill()
        line.refuse()
    line.serves = 2
    line.succeed(20)
    assert line.limiter.limit <= 3
    line.serves = 4
    line.succeed(30)
    assert line.limiter.limit == 4


# --- pauses ---------------------------------------------------------------------------------


def test_a_refusal_of_the_only_request_pauses_all() -> None:
    limiter = Limiter(2)
    limiter.refused(limiter.start(), 10.0, 3.0)
    assert limiter.paused_until == 13
    limiter.resume(12.0)
    assert limiter.paused_until == 13, "another alarm than its own"
    limiter.resume(13.0)
    assert limiter.paused_until == 0


def test_while_others_are_served_no_refusals_pause_all() -> None:
    limiter = Limiter(16)
    slots = [limiter.start() for _ in range(16)]
    for slot in slots[1:]:
        limiter.refused(slot, 10.0, 5.0)
    assert limiter.paused_until == 0
    assert limiter.limit == 1
