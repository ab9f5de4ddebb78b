"""Excerpts of a source around a line."""

from pytest_cudaopt.excerpts import excerpt


def test_an_excerpt_of_a_line_that_is_not_there_is_empty():
    assert excerpt("a\nb\n", 3) == []
    assert excerpt("a\nb\n", 0) == []


def test_an_excerpt_stops_at_the_ends_of_the_file():
    assert excerpt("a\nb", 1, context_lines=5) == ["  >    1 | a", "       2 | b"]


def test_a_caret_stands_under_its_column_after_tabs():
    marked, caret = excerpt("\tx = y;", 1, column=6, context_lines=0)

    assert marked[caret.index("^")] == "y"


def test_a_second_line_is_marked_in_the_same_piece():
    shown = excerpt("a\nb\nc\nd\ne\nf", 4, context_lines=1, also=2)

    assert shown == ["       1 | a", "  >    2 | b", "       3 | c", "  >    4 | d", "       5 | e"]
