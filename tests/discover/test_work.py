from benchc.discover.work import GAME, claim, finish


def a_training(folder):
    for name in ("checkpoint-3", "warm", "best"):
        (folder / name).mkdir()
        (folder / name / "x").write_text("x")
    for name in ("log.jsonl", "requests", "of somebody else"):
        (folder / name).write_text("x")


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_same_game_goes_on_and_another_begins_anew(tmp_path):
    folder = tmp_path / "work"
    claim(folder, {"seed": 1})
    a_training(folder)
    before = names(folder)
    claim(folder, {"seed": 1})
    assert names(folder) == before
    claim(folder, {"seed": 2})
    assert names(folder) == {GAME, "of somebody else"}


def test_a_finished_game_leaves_the_questioner_and_is_not_gone_on_from(tmp_path):
    folder = tmp_path / "work"
    claim(folder, {"seed": 1})
    a_training(folder)
    finish(folder)
    assert names(folder) == {"best", "log.jsonl", "of somebody else"}
    claim(folder, {"seed": 1})
    assert names(folder) == {GAME, "of somebody else"}
