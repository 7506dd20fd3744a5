"""Loads a checkpoint's processor and weights, or says in one line why it will not do.

Never touches the network, runs a checkpoint's own code unasked, or changes a precision by itself.
"""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.constants import HF_HUB_CACHE
from transformers import AutoModelForImageTextToText, AutoProcessor

from benchc.errors import BadInput
from benchc.infer.settings import TransformersModel

_THOUGHT = re.compile(r"<(\w*think\w*)>(?!.*</\1>)", re.DOTALL)


def device(wanted: str, shard: int) -> str:
    """Return the torch device: `cpu`, or the GPU of a shard.

    Raises:
        BadInput: a GPU is asked for and there is none.
    """
    if wanted == "cpu" or (wanted == "auto" and not torch.cuda.is_available()):
        return "cpu"
    if not torch.cuda.is_available():
        raise BadInput("device: cuda is configured, but torch finds no GPU; use `device: auto`")
    return f"cuda:{shard % torch.cuda.device_count()}"


def load_processor(settings: TransformersModel) -> Any:
    """Return the processor, padding on the left, with the chat template that the settings name.

    Raises:
        BadInput: it does not load, or there is no template although one is needed.
    """
    processor = _from_pretrained(AutoProcessor, settings, backend=settings.image_backend)
    if settings.chat_template is not None:
        processor.chat_template = Path(settings.chat_template).read_text(encoding="utf-8")
    elif not getattr(processor, "chat_template", None):
        processor.chat_template = getattr(processor.tokenizer, "chat_template", None)
    if processor.chat_template is None and settings.prompt_style == "chat":
        raise BadInput(
            f"model {settings.weights}: its checkpoint has no chat template; give a Jinja file as "
            "`chat_template`, or `prompt_style: plain` for a base model"
        )
    _check_processor_settings(settings, processor.image_processor)
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def load_model(settings: TransformersModel) -> Any:
    """Return the model on the CPU, in the precision that the settings name.

    Raises:
        BadInput: it does not load, some of its weights are in no file, or it is no decoder.
    """
    model, info = _from_pretrained(
        AutoModelForImageTextToText,
        settings,
        dtype=getattr(torch, settings.dtype),
        attn_implementation=settings.attention,
        output_loading_info=True,
    )
    # The library fills weights that it does not find with random numbers.
    if missing := sorted(info["missing_keys"]):
        raise BadInput(
            f"model {settings.weights}: its files hold no weights for {missing[0]}"
            + (f" and {len(missing) - 1} more" if missing[1:] else "")
        )
    if model.config.is_encoder_decoder:
        raise BadInput(
            f"model {settings.weights}: {model.config.model_type} is an encoder with a decoder; "
            "only models that continue their prompt can be asked"
        )
    return model.eval()


def accepted(model: Any) -> frozenset[str]:
    """Return the names that a model's forward pass takes."""
    return frozenset(inspect.signature(model.forward).parameters)


def context_length(config: Any) -> int | None:
    """Return how many tokens a prompt may have; None where the config does not say."""
    return getattr(config.get_text_config(), "max_position_embeddings", None)


def render(processor: Any, words: str, style: str, reply: Sequence[str] = ()) -> str:
    """Return a question as the model is sent it, with `reply` as its answer or open for one.

    Thinking is switched off in the ways that templates know.

    Args:
        processor: With its chat template.
        words: What the user says behind the picture.
        style: `chat` or `plain`.
        reply: The assistant's words; none leaves the prompt open for them.
    """
    if style == "plain":
        return processor.image_token + words + "".join(reply)
    messages = [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": words}]},
        *({"role": "assistant", "content": [{"type": "text", "text": r}]} for r in reply),
    ]
    known = str(processor.chat_template)
    switched_off = {name: False for name in ("enable_thinking", "thinking") if name in known}
    rendered: str = processor.apply_chat_template(
        messages, add_generation_prompt=not reply, tokenize=False, **switched_off
    )
    return rendered


def check_template(processor: Any, settings: TransformersModel) -> None:
    """Refuse a chat template that fails, drops the question, or opens a thought before the reply.

    Raises:
        BadInput: with the reason and the way out.
    """
    words = "What is in the picture?"
    way_out = "give another one as `chat_template`"
    try:
        prompt = render(processor, words, settings.prompt_style)
    except Exception as error:
        # Templates raise errors of their own kinds.
        raise BadInput(
            f"model {settings.weights}: its chat template fails: {first_line(error)}; {way_out}"
        ) from error
    before, _, behind = prompt.rpartition(words)
    if not before or getattr(processor, "image_token", "") not in before:
        raise BadInput(
            f"model {settings.weights}: its chat template drops the question or the picture "
            f"(it gives {prompt[-60:]!r}); {way_out}"
        )
    if thought := _THOUGHT.search(behind):
        raise BadInput(
            f"model {settings.weights}: its chat template opens <{thought[1]}> in front of the "
            f"reply, so that what comes next is no answer; {way_out} that closes it"
        )


def reply_leads(processor: Any, style: str) -> tuple[str, ...]:
    """Return the white space that a chat template writes between its header and the reply.

    A template that does not show it (its reply does not follow its own generation prompt) leaves
    both open: none, then a space.
    """
    prompt = render(processor, "?", style)
    try:
        whole = render(processor, "?", style, reply=["A"])
    except Exception:
        # Templates raise errors of their own kinds for roles they do not know.
        return ("", " ")
    rest = whole[len(prompt) :]
    if style == "plain" or not whole.startswith(prompt) or not rest.lstrip().startswith("A"):
        return ("", " ")
    return (rest[: len(rest) - len(rest.lstrip())],)


def reserved_tokens(processor: Any) -> list[str]:
    """Return the texts that a processor takes for more than words: in a question they lie."""
    tokenizer = processor.tokenizer
    found = {*tokenizer.all_special_tokens}
    found |= {t.content for t in tokenizer.added_tokens_decoder.values() if t.special}
    found |= {v for k, v in vars(processor).items() if k.endswith("_token") and isinstance(v, str)}
    return sorted(token for token in found if token.strip())


def first_line(error: Exception) -> str:
    """Return what an error says, in one line."""
    return next((line for line in str(error).splitlines() if line.strip()), repr(error))


def _check_processor_settings(settings: TransformersModel, image_processor: Any) -> None:
    known = getattr(image_processor.valid_kwargs, "__annotations__", {})
    for name in settings.processor:
        if name not in known:
            raise BadInput(
                f"model {settings.weights}: processor: {type(image_processor).__name__} has no "
                f"setting {name!r}; known: {', '.join(sorted(known))}"
            )


def _from_pretrained(loader: Any, settings: TransformersModel, **arguments: Any) -> Any:
    if settings.path is not None and not (Path(settings.path) / "config.json").is_file():
        raise BadInput(f"model path {settings.path}: no config.json there, so no checkpoint")
    if settings.hub_id is not None and not _is_cached(settings.hub_id, settings.revision):
        raise BadInput(
            f"model {settings.hub_id}: revision {settings.revision} is not in {HF_HUB_CACHE}; "
            "`benchc fetch files` fetches it, and `--fetched FOLDER` says where to"
        )
    try:
        return loader.from_pretrained(
            settings.weights,
            revision=settings.revision,
            local_files_only=True,
            trust_remote_code=settings.remote_code,
            **arguments,
        )
    except Exception as error:
        # Which errors a damaged or foreign checkpoint raises depends on its family.
        if "trust_remote_code" in str(error):
            raise BadInput(
                f"model {settings.weights}: it needs code of its own, which is not run unless "
                "`remote_code: true` allows it; look for a checkpoint of the library's own classes"
            ) from None
        raise BadInput(
            f"model {settings.weights} (revision {settings.revision or 'local'}) does not load: "
            f"{first_line(error)}"
        ) from error


def _is_cached(hub_id: str, revision: str | None) -> bool:
    return isinstance(try_to_load_from_cache(hub_id, "config.json", revision=revision), str)
