# SPDX-License-Identifier: Apache-2.0
"""Who may read what export and merge write, and what lies in their way."""

import os
import stat

import pytest

WRITERS = {
    "export": ("export", "a.db", "-f", "collapsed", "-o", "OUT"),
    "merge": ("merge", "OUT", "a.db"),
}


def write(program, how, out, **more):
    return program(*(out if word == "OUT" else word for word in WRITERS[how]), **more)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("how", WRITERS)
def test_a_new_file_is_its_users_alone(program, tmp_path, how):
    done = write(program, how, tmp_path / "out", preexec_fn=lambda: os.umask(0o022))
    assert done.returncode == 0, done.complaint
    assert mode(tmp_path / "out") == 0o600
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("how", WRITERS)
def test_a_file_that_is_there_keeps_its_mode(program, tmp_path, how):
    (tmp_path / "out").touch(mode=0o600)
    (tmp_path / "out").chmod(0o664)
    done = write(program, how, tmp_path / "out")
    assert done.returncode == 0, done.complaint
    assert mode(tmp_path / "out") == 0o664 and (tmp_path / "out").stat().st_size > 0


@pytest.mark.parametrize("how", WRITERS)
def test_a_link_that_waits_in_the_folder_is_not_followed(program, tmp_path, how):
    """Of the name that the temporary file had: it was made of the process's number, which can be foreseen."""
    victim = tmp_path / "victim"
    victim.write_text("mine")

    def plant():
        os.symlink(victim, tmp_path / f"out.{os.getpid()}.tmp")

    done = write(program, how, tmp_path / "out", preexec_fn=plant)
    assert done.returncode == 0, done.complaint
    assert victim.read_text() == "mine"
    assert (tmp_path / "out").stat().st_size > 4 and not (tmp_path / "out").is_symlink()


@pytest.mark.parametrize("how", WRITERS)
def test_a_link_stays_one(program, tmp_path, how):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "out").touch()
    os.symlink(tmp_path / "real" / "out", tmp_path / "link")
    done = write(program, how, tmp_path / "link")
    assert done.returncode == 0, done.complaint
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "out").stat().st_size > 0
    assert os.listdir(tmp_path / "real") == ["out"]


@pytest.mark.parametrize("how", WRITERS)
def test_a_name_as_long_as_a_name_can_be(program, tmp_path, how):
    out = tmp_path / ("x" * 255)
    done = write(program, how, out)
    assert done.returncode == 0, done.complaint
    assert os.listdir(tmp_path) == [out.name]
