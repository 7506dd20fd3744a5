"""Any checkpoint that `AutoModelForImageTextToText` and `AutoProcessor` load, from a folder or hub.

Never touches the network, truncates a prompt, or changes a precision by itself.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor
from transformers.utils.logging import disable_progress_bar

from benchc.errors import BadInput
from benchc.infer.option_tokens import Continuations, template_leads
from benchc.infer.prompt import letter_prompt, option_labels, text_prompt
from benchc.infer.scores import Question, Score
from benchc.infer.settings import Model

Prompt = dict[str, Any]

_SEES_BOTH_WAYS = frozenset({"paligemma"})


def load(settings: Model, threads: int, shard: int) -> "TransformersBackend":
    """Return the model with its processor; see `TransformersBackend`."""
    return TransformersBackend(settings, threads)


class TransformersBackend:
    """One model in memory, asked batch by batch."""

    def __init__(self, settings: Model, threads: int = 1):
        """Load weights and processor.

        Raises:
            BadInput: the checkpoint is missing or has no chat template, or cannot be scored as
                the settings say.
        """
        disable_progress_bar()
        self.settings = settings
        self.device = _device(settings.device)
        if self.device == "cpu":
            torch.set_num_threads(threads)
        self.processor = _load_processor(settings)
        self.model = _load_model(settings).to(self.device).eval()
        if settings.scoring == "text" and self.model.config.model_type in _SEES_BOTH_WAYS:
            raise BadInput(
                f"model {settings.weights}: {self.model.config.model_type} reads its prompt in "
                "both directions, so an option would see itself; use `scoring: letter`"
            )
        self.continuations = Continuations(self.processor.tokenizer, template_leads(self.processor))
        self.context = _context_length(self.model.config)
        self.reserved = _reserved_tokens(self.processor)
        self._rendered: dict[tuple[str, tuple[str, ...]], str] = {}

    def score(self, questions: Sequence[Question]) -> list[Score]:
        """Return one score a question, in `batch_size` batches; see `Backend`."""
        scores: list[Score | None] = [self._refusal(question) for question in questions]
        askable = [i for i, score in enumerate(scores) if score is None]
        size = 64 if self.settings.batch_size == "auto" else self.settings.batch_size
        for start in range(0, len(askable), size):
            batch = askable[start : start + size]
            answers = self._score_batch([questions[i] for i in batch])
            for i, answer in zip(batch, answers, strict=True):
                scores[i] = answer
        return [score for score in scores if score is not None]

    def rendered(self, question: Question) -> str:
        """Return the prompt as the model's own chat template writes it."""
        key = (question.question, question.options)
        if key not in self._rendered:
            instruction = self.settings.instruction
            if self.settings.scoring == "letter":
                text = letter_prompt(question.question, question.options, instruction)
            else:
                text = text_prompt(question.question, instruction)
            content = [{"type": "image"}, {"type": "text", "text": text}]
            self._rendered[key] = self.processor.apply_chat_template(
                [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
            )
        return self._rendered[key]

    def _refusal(self, question: Question) -> Score | None:
        words = "\n".join([question.question, *question.options])
        if any(token in words for token in self.reserved):
            return Score(None, None, "reserved_token")
        return None

    def _score_batch(self, questions: Sequence[Question]) -> list[Score]:
        try:
            inputs = self._encode(questions)
        except ValueError:
            if len(questions) == 1:
                return [Score(None, None, "processor_error")]
            return [self._score_batch([question])[0] for question in questions]
        if self.context is not None and inputs["input_ids"].shape[1] > self.context:
            if len(questions) == 1:
                return [Score(None, None, "too_long")]
            return [self._score_batch([question])[0] for question in questions]
        if self.settings.scoring == "letter":
            return self._read_letters(questions, inputs)
        return [self._read_texts(question) for question in questions]

    def _encode(self, questions: Sequence[Question]) -> Prompt:
        texts = [self.rendered(question) for question in questions]
        bos = self.processor.tokenizer.bos_token
        inputs = self.processor(
            text=texts,
            images=[[Image.fromarray(question.image)] for question in questions],
            padding=True,
            return_tensors="pt",
            add_special_tokens=not (bos and texts[0].startswith(bos)),
        )
        if not bool(inputs["attention_mask"][:, -1].all()):
            raise BadInput(
                f"model {self.settings.weights}: its processor pads on the right although asked to "
                "pad on the left; its answers cannot be read in batches"
            )
        inputs.pop("labels", None)
        return dict(inputs)

    def _read_letters(self, questions: Sequence[Question], inputs: Prompt) -> list[Score]:
        logits = self._logits(inputs, keep=1)[:, -1].astype(np.float64)
        masses = _log_sum_exp(logits)
        scores = []
        for row, question in enumerate(questions):
            ids = self.continuations.letters(
                self.rendered(question),
                int(inputs["input_ids"][row, -1]),
                option_labels(len(question.options)),
            )
            chosen = logits[row, ids]
            mass = float(np.exp(_log_sum_exp(chosen[None])[0] - masses[row]))
            scores.append(Score(tuple(chosen.tolist()), mass))
        return scores

    def _read_texts(self, question: Question) -> Score:
        """Score each option by the summed log-probability of its tokens behind the prompt."""
        inputs = self._encode([question] * len(question.options))
        prompt, last_id = self.rendered(question), int(inputs["input_ids"][0, -1])
        tokens = [self.continuations.ids(prompt, last_id, text) for text in question.options]
        longest = max(map(len, tokens))
        logits = self._logits(_extended(inputs, tokens, longest), keep=longest + 1)
        sums = []
        for row, ids in enumerate(tokens):
            steps = logits[row, : len(ids)].astype(np.float64)
            sums.append(float((steps[range(len(ids)), ids] - _log_sum_exp(steps)).sum()))
        return Score(tuple(sums), None)

    @torch.inference_mode()
    def _logits(self, inputs: Prompt, keep: int) -> np.ndarray:
        """Return float32 logits of the last `keep` positions: batch x keep x vocabulary."""
        on_device = {
            name: value.to(self.device, dtype=self.model.dtype)
            if value.is_floating_point()
            else value.to(self.device)
            for name, value in inputs.items()
        }
        output = self.model(**on_device, logits_to_keep=keep, use_cache=False)
        return output.logits[:, -keep:].float().cpu().numpy()

    def ran_on(self) -> dict[str, object]:
        """Return what the last batches ran on."""
        return {
            "device": self.device,
            "dtype": self.settings.dtype,
            "batch_size": self.settings.batch_size,
            "threads": torch.get_num_threads(),
        }

    def facts(self) -> dict[str, object]:
        """Return what could change a prediction and is not in the config: for the run record."""
        return {
            "model_class": type(self.model).__name__,
            "processor_class": type(self.processor).__name__,
            "image_processor_class": type(self.processor.image_processor).__name__,
            "chat_template": self.processor.chat_template or self.processor.tokenizer.chat_template,
            "parameters": sum(p.numel() for p in self.model.parameters()),
        }


def _extended(inputs: Prompt, tokens: Sequence[Sequence[int]], longest: int) -> Prompt:
    """Append each row's tokens; the padding behind a shorter one is masked, and causally unseen."""
    added = torch.zeros(len(tokens), longest, dtype=torch.long)
    seen = torch.zeros(len(tokens), longest, dtype=torch.long)
    for row, ids in enumerate(tokens):
        added[row, : len(ids)] = torch.tensor(ids)
        seen[row, : len(ids)] = 1
    behind = {
        "input_ids": added,
        "attention_mask": seen,
        "token_type_ids": torch.ones_like(added),
        "mm_token_type_ids": torch.zeros_like(added),
    }
    return {
        name: torch.cat([value, behind[name]], dim=1) if name in behind else value
        for name, value in inputs.items()
    }


def _log_sum_exp(values: np.ndarray) -> np.ndarray:
    top = values.max(axis=1)
    with np.errstate(invalid="ignore"):
        return top + np.log(np.exp(values - top[:, None]).sum(axis=1))


def _device(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda" and not torch.cuda.is_available():
        raise BadInput("device: cuda is configured, but torch finds no GPU; use `device: auto`")
    return wanted


def _load_processor(settings: Model) -> Any:
    processor = _from_pretrained(AutoProcessor, settings, backend=settings.image_backend)
    if not (
        getattr(processor, "chat_template", None)
        or getattr(processor.tokenizer, "chat_template", None)
    ):
        raise BadInput(f"model {settings.weights}: its checkpoint has no chat template")
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def _load_model(settings: Model) -> Any:
    return _from_pretrained(
        AutoModelForImageTextToText,
        settings,
        dtype=getattr(torch, settings.dtype),
        attn_implementation=settings.attention,
    )


def _from_pretrained(loader: Any, settings: Model, **arguments: Any) -> Any:
    if settings.path is not None and not (Path(settings.path) / "config.json").is_file():
        raise BadInput(f"model path {settings.path}: no config.json there, so no checkpoint")
    try:
        return loader.from_pretrained(
            settings.weights,
            revision=settings.revision,
            local_files_only=True,
            trust_remote_code=settings.remote_code,
            **arguments,
        )
    except (OSError, ValueError, KeyError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), repr(error))
        raise BadInput(
            f"model {settings.weights} (revision {settings.revision or 'local'}) does not load: "
            f"{reason}"
        ) from error


def _context_length(config: Any) -> int | None:
    text = config.get_text_config()
    return getattr(text, "max_position_embeddings", None)


def _reserved_tokens(processor: Any) -> list[str]:
    tokens = set(processor.tokenizer.all_special_tokens)
    tokens |= {t.content for t in processor.tokenizer.added_tokens_decoder.values() if t.special}
    image_token = getattr(processor, "image_token", None)
    if isinstance(image_token, str):
        tokens.add(image_token)
    return sorted(token for token in tokens if token)
