"""Every way to ask with LoRA, photographs and a server that misbehaves, in one process."""

import pytest
import real_scale
import torch
from protocol_server import serving

from benchc.config.discovery import Discover
from benchc.config.models import OpenAIModel, TransformersModel
from benchc.discover.game import held_out_outcomes, prepare
from benchc.discover.train import read_log
from benchc.discover.ways import learn


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("scale")
    real_scale.players(folder)
    return folder


@pytest.fixture(scope="module")
def url():
    with serving(real_scale.server()) as url:
        yield url


@pytest.mark.parametrize("way", ["conme", "expert_iteration", "sft_rl"])
def test_every_kind_of_learning_ends_with_verdicts(folder, url, tmp_path, way):
    # Of a server that is mostly at fault, enough questions to learn from.
    section = real_scale.section(folder, url, budget=128, warm_start=0.75)
    model = TransformersModel(path=str(folder / "answerer"))
    game = prepare(Discover.model_validate(section), model, tmp_path, 1)
    before = {n: p.clone() for n, p in game.questioner.model.named_parameters() if "lora" in n}
    outcomes = held_out_outcomes(game, learn(way, game))
    assert len(outcomes) == 8 * 2
    assert any(o.judged for o in outcomes)
    after = dict(game.questioner.model.named_parameters())
    changed = any(not torch.equal(after[name], old) for name, old in before.items())
    assert changed == (way != "conme")
    assert bool(read_log(tmp_path)) == (way == "sft_rl")
    base = [p for n, p in after.items() if "lora" not in n]
    assert not any(p.requires_grad for p in base)


def test_an_adapter_is_the_same_every_time(folder, url, tmp_path):
    def adapter(seed):
        settings = Discover.model_validate(real_scale.section(folder, url))
        served = OpenAIModel(backend="openai", url=url, model=real_scale.ANSWERER)
        model = prepare(settings, served, tmp_path, seed).questioner.model
        return torch.cat([p.flatten() for n, p in model.named_parameters() if "lora_A" in n])

    assert torch.equal(adapter(1), adapter(1))
    assert not torch.equal(adapter(1), adapter(2))
