"""The doctor: finds what is there, names what is missing and what to do about it."""

import pytest

from pytest_cudaopt import doctor
from pytest_cudaopt.doctor import Row, State


def test_an_old_python_is_missing():
    assert doctor.python_row((3, 10)).state is State.MISSING
    assert doctor.python_row((3, 11)).state is State.FOUND


def test_no_driver_is_fine_and_says_where_kernels_run():
    row = doctor.driver_row("libcuda-that-is-nowhere.so.1")

    assert row.state is State.ABSENT
    assert "kernels run on sim" in row.detail


def test_a_writable_folder_is_found_even_before_it_is_made(tmp_path):
    row = doctor.folder_row("results folder", tmp_path / "new" / "deeper", State.MISSING, "")

    assert row.state is State.FOUND
    assert "will be made" in row.detail
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    row = doctor.folder_row("results folder", in_the_way / "results", State.MISSING, "Choose another")

    assert row.state is State.MISSING
    assert row.advice == "Choose another"
    assert str(in_the_way) in row.detail


@pytest.mark.parametrize(
    ("states", "healthy"),
    [
        ([State.FOUND, State.ABSENT], True),
        ([State.FOUND, State.MISSING], False),
    ],
)
def test_only_missing_things_are_unhealthy(states, healthy):
    assert doctor.is_healthy([Row("x", state, "") for state in states]) is healthy


def test_a_missing_harness_is_named_with_the_remedy(tmp_path):
    environ = {"CUDAOPT_HARNESS": "/nowhere/harness", "HOME": str(tmp_path)}
    rows = {row.what: row for row in doctor.examine(tmp_path, environ)}

    assert rows["harness"].state is State.MISSING
    assert "/nowhere/harness" in rows["harness"].detail
    assert "CUDAOPT_HARNESS" in rows["harness"].advice


def test_a_missing_nvrtc_is_named_with_the_remedy(tmp_path):
    environ = {"CUDAOPT_NVRTC": "/nowhere/libnvrtc.so.13", "HOME": str(tmp_path)}
    rows = {row.what: row for row in doctor.examine(tmp_path, environ)}

    assert rows["NVRTC"].state is State.MISSING
    assert "/nowhere/libnvrtc.so.13" in rows["NVRTC"].detail
    assert "CUDAOPT_NVRTC" in rows["NVRTC"].advice
