"""Loads a checkpoint's processor and weights, or says in one line why it will not do.

Never touches the network, runs a checkpoint's own code unasked, or changes a precision by itself.
"""

import inspect
import re
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.constants import HF_HUB_CACHE
from transformers import AutoModelForImageTextToText, AutoProcessor

from benchc.config.checkpoint import refuse_what_lies_elsewhere
from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import contained, preflight, template

_LAYER = re.compile(r"\b(?:layers?|blocks?|h)\.\d+\.")


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


def has_bfloat16() -> bool:
    """Say whether there is a GPU that computes in bfloat16 by itself."""
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def load_processor(settings: TransformersModel) -> Any:
    """Return the processor, padding on the left, with the chat template that the settings name.

    Raises:
        BadInput: it does not load, or there is no template although one is needed.
    """
    processor = _from_pretrained(AutoProcessor, settings, backend=settings.image_backend)
    if settings.prompt_style == "chat":
        processor.chat_template = _settled_template(processor, settings)
    _check_processor_settings(settings, processor.image_processor)
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def _settled_template(processor: Any, settings: TransformersModel) -> str:
    """Return the chat template that the settings name, made to write the same in every run."""
    if settings.chat_template is not None:
        found: str | None = Path(settings.chat_template).read_text(encoding="utf-8")
    else:
        own = getattr(processor, "chat_template", None) or processor.tokenizer.chat_template
        # Several templates, for tools for instance, go by names.
        found = own.get("default") if isinstance(own, dict) else own
    if found is None:
        raise BadInput(
            f"model {settings.weights}: its checkpoint has no chat template; give a Jinja file as "
            "`chat_template`, or `prompt_style: plain` for a base model"
        )
    try:
        return template.settle(found, settings.date)
    except BadInput as error:
        raise BadInput(
            f"model {settings.weights}: {error}; give another one as `chat_template`"
        ) from None


def template_file(settings: TransformersModel) -> str:
    """Return the file that holds the chat template, in brackets; nothing where none is found."""
    folder = _folder(settings)
    own = (folder / name for name in ("chat_template.jinja", "chat_template.json"))
    found = (
        Path(settings.chat_template)
        if settings.chat_template is not None
        else next((file for file in own if file.is_file()), folder / "tokenizer_config.json")
    )
    return f" ({found})" if found.is_file() else ""


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
    # Nor does it mind a layer that no part of the model takes; other leftovers are common.
    if unused := sorted(filter(_LAYER.search, info["unexpected_keys"])):
        raise BadInput(
            f"model {settings.weights}: no layer of the model takes {unused[0]}"
            + (f" and {len(unused) - 1} more weights" if unused[1:] else "")
            + "; its config.json counts fewer layers than its files hold"
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
    refuse_what_lies_elsewhere(_folder(settings))
    preflight.refuse_absurd_sizes(_folder(settings))
    try:
        return loader.from_pretrained(
            settings.weights,
            revision=settings.revision,
            local_files_only=True,
            trust_remote_code=settings.remote_code,
            **arguments,
        )
    except BaseException as error:
        # Which errors a damaged or foreign checkpoint raises depends on its family; a panic of
        # code in Rust is no `Exception`.
        if not isinstance(error, Exception) and not contained.is_panic(error):
            raise
        if "trust_remote_code" in str(error):
            raise BadInput(
                f"model {settings.weights}: it needs code of its own, which is not run unless "
                "`remote_code: true` allows it; look for a checkpoint of the library's own classes"
            ) from None
        if "ignore_mismatched_sizes" in str(error):
            # The library's own advice is to fill what does not fit with random numbers.
            raise BadInput(
                f"model {settings.weights}: its weights are of other shapes than its config.json "
                "says; the checkpoint is damaged or its files are of two"
            ) from None
        if isinstance(error, UnpicklingError) or "weights_only" in str(error):
            # The library's own advice is to switch its protection off.
            raise BadInput(
                f"model {settings.weights}: a file of its weights is a pickle that cannot be read "
                "as tensors alone: it is damaged, or holds code, which is not run. Take the "
                "checkpoint's safetensors"
            ) from None
        raise BadInput(
            f"model {settings.weights} (revision {settings.revision or 'local'}) does not load: "
            f"{template.first_line(error)}"
        ) from error


def _folder(settings: TransformersModel) -> Path:
    """Return where a checkpoint's files lie, in the hub's cache or elsewhere."""
    if settings.hub_id is None:
        return Path(settings.weights)
    found = try_to_load_from_cache(settings.hub_id, "config.json", revision=settings.revision)
    return Path(str(found)).parent


def _is_cached(hub_id: str, revision: str | None) -> bool:
    return isinstance(try_to_load_from_cache(hub_id, "config.json", revision=revision), str)
