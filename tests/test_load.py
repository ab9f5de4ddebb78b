"""Finding a kernel by `MODULE::KERNEL`."""

import sys

import pytest

from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.load import load_kernel


def test_a_kernel_is_found_by_path_and_name(project):
    assert load_kernel(f"{project.path}/test_scale.py::scale").name == "scale"


def test_the_import_path_is_left_as_it_was(project):
    before = list(sys.path)
    load_kernel("test_scale.py::scale")

    assert sys.path == before


def test_a_module_may_import_its_neighbours(project):
    project.write("neighbour.py", "SIZE = 51\n")
    project.edit("test_scale.py", "from pytest_cudaopt", "from neighbour import SIZE\nfrom pytest_cudaopt")

    assert load_kernel("test_scale.py::scale").name == "scale"


def test_the_named_file_wins_over_an_imported_module_of_the_same_name(project):
    load_kernel("test_scale.py::scale")
    text = (project.path / "test_scale.py").read_text().replace("n=51", "n=52")
    project.write("elsewhere/test_scale.py", text)

    assert load_kernel("elsewhere/test_scale.py::scale").case_ids[0] == "n52"


@pytest.mark.parametrize("target", ["test_scale.py", "::scale", "test_scale.py::"])
def test_a_malformed_target_shows_the_form(project, target):
    with pytest.raises(DeclarationError, match="expected MODULE::KERNEL"):
        load_kernel(target)


def test_a_missing_module_lists_those_there(project):
    with pytest.raises(DeclarationError, match=r"Test modules there: test_scale\.py"):
        load_kernel("test_skale.py::scale")


def test_an_unknown_kernel_lists_those_there(project):
    with pytest.raises(DeclarationError, match="expected a kernel 'skale', got kernels scale"):
        load_kernel("test_scale.py::skale")


def test_a_module_that_raises_shows_its_own_line_only(project):
    project.edit("test_scale.py", "@kernel", "1 / 0\n@kernel")
    with pytest.raises(DeclarationError) as raised:
        load_kernel("test_scale.py::scale")

    assert "ZeroDivisionError: division by zero" in str(raised.value)
    assert 'test_scale.py", line 3' in str(raised.value)
    assert "importlib" not in str(raised.value)


def test_a_wrong_declaration_keeps_its_own_message(project):
    project.edit("test_scale.py", 'In(f32, "n")', 'In(f32, "m")')

    with pytest.raises(DeclarationError, match="sizes among n, got 'm'"):
        load_kernel("test_scale.py::scale")
