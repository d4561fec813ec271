"""A language model in PyTorch: Qwen2's kind, read from a GGUF file, which writes and reads texts.

It is a teacher, never shipped. `LanguageModel.vectors` is what it makes of whole texts, the state
after their last piece; `write` goes on with texts.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from training.gguf import Gguf

END = "<|endoftext|>"
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PARTS = {
    "attn_norm": "norm1",
    "attn_q": "q",
    "attn_k": "k",
    "attn_v": "v",
    "attn_output": "out",
    "ffn_norm": "norm2",
    "ffn_gate": "gate",
    "ffn_up": "up",
    "ffn_down": "down",
}
"""What GGUF calls the parts of a layer, and what they are called here."""
GROWN = 32
"""The memory of what was read is looked at in steps of so many pieces."""
SHORT_OF = 0.03
"""Writing ends when all but this share of the texts have ended."""


class Size(NamedTuple):
    """How large a model is, and two numbers of its arithmetic."""

    pieces: int
    width: int
    inner: int
    layers: int
    heads: int
    shared: int
    epsilon: float = 1e-6
    base: float = 1e6


class Layer(nn.Module):
    """Attention, whose keys and values several heads share, then a gated feed-forward net."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, of = size.width, size.width // size.heads
        self.heads, self.shared = size.heads, size.shared
        self.norm1, self.norm2 = (nn.RMSNorm(width, size.epsilon) for _ in range(2))
        self.q = nn.Linear(width, width)
        self.k, self.v = (nn.Linear(width, size.shared * of) for _ in range(2))
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, size.inner, bias=False) for _ in range(2))
        self.down = nn.Linear(size.inner, width, bias=False)

    def forward(self, x: Tensor, turn: Tensor, memory: "Memory | None" = None) -> Tensor:
        count, length, width = x.shape
        y = self.norm1(x).to(self.q.weight.dtype)
        q, k, v = (
            part(y).view(count, length, -1, width // self.heads).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        seen = self._attend(_turned(q, turn), _turned(k, turn), v, memory)
        x = x + self.out(seen.transpose(1, 2).reshape(count, length, width))
        y = self.norm2(x).to(self.gate.weight.dtype)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, memory: "Memory | None") -> Tensor:
        if memory is None:
            many = self.heads // self.shared
            k, v = (each.repeat_interleave(many, dim=1) for each in (k, v))
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        k, v = memory.add(self, k, v)
        count, heads, length, of = q.shape
        grouped = q.reshape(count, self.shared, heads // self.shared * length, of)
        scores = grouped @ k.transpose(-1, -2) * of**-0.5
        scores = scores.view(count, heads, length, -1) + memory.hidden()
        shares = scores.float().softmax(-1).to(v.dtype)
        return (shares.view(count, self.shared, -1, shares.shape[-1]) @ v).view(q.shape)


def _turned(x: Tensor, turn: Tensor) -> Tensor:
    """Each head of each piece, turned by where the piece stands."""
    half = x.shape[-1] // 2
    cos, sin = (each[:, None].to(x.dtype) for each in (turn.cos(), turn.sin()))
    left, right = x[..., :half], x[..., half:]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


class Memory:
    """Keys and values of what was read so far, for a fixed number of texts of at most so much.

    Texts begin with the same pieces, which are read once, go on with their own, padded on the
    right, and then with what is written.
    """

    def __init__(self, model: "LanguageModel", count: int, most: int) -> None:
        weight, size = model.words.weight, model.size
        shape = (size.layers, 2, count, size.shared, most, size.width // size.heads)
        self.held = torch.zeros(shape, dtype=weight.dtype, device=weight.device)
        self._place = {id(layer): n for n, layer in enumerate(model.layers)}
        self.open = torch.zeros(count, most, dtype=torch.bool, device=weight.device)
        """Which pieces may be looked at."""
        self.filled = 0
        self._upto = 0

    def room(self, length: int, real: Tensor) -> None:
        """The next so many pieces are coming; False in `real` for padding."""
        self.open[:, self.filled : self.filled + length] = real
        self._start, self.filled = self.filled, self.filled + length
        self._upto = min(self.open.shape[1], -(-self.filled // GROWN) * GROWN)

    def add(self, layer: Layer, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        held = self.held[self._place[id(layer)]]
        held[0, :, :, self._start : self.filled] = k
        held[1, :, :, self._start : self.filled] = v
        return held[0, :, :, : self._upto], held[1, :, :, : self._upto]

    def hidden(self) -> Tensor:
        """What to add to scores: much below zero where a piece may not be looked at."""
        at = torch.arange(self._upto, device=self.open.device)
        own = torch.arange(self._start, self.filled, device=self.open.device)
        seen = self.open[:, None, : self._upto] & (at[None] <= own[:, None])
        return torch.where(seen, 0.0, -1e4).to(self.held.dtype)[:, None]

    def begin(self, one: "Memory") -> None:
        """All texts begin as the one of another memory."""
        length = one.filled
        self.held[..., :length, :] = one.held[..., :length, :]
        self.room(length, torch.ones(1, length, dtype=torch.bool))

    def keep(self, rows: Tensor) -> None:
        """Go on with some of the texts only."""
        self.held = self.held[:, :, rows]
        self.open = self.open[rows]


class LanguageModel(nn.Module):
    """Piece numbers to the states after each piece."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.words = nn.Embedding(size.pieces, size.width)
        self.layers = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.width, size.epsilon)
        half = size.width // size.heads // 2
        steps = size.base ** (-torch.arange(half).float() / half)
        self.register_buffer("steps", steps, persistent=False)

    def forward(self, numbers: Tensor, places: Tensor, memory: Memory | None = None) -> Tensor:
        turn = places[..., None].float() * self.steps.float()
        x = self.words(numbers)
        for place, layer in enumerate(self.layers):
            if self.training and place % 4:  # three in four are computed again: less memory
                x = checkpoint(layer, x, turn, use_reentrant=False)
            else:
                x = layer(x, turn, memory)
        return self.norm(x)

    def vectors(self, texts: Sequence[Sequence[int]], chunk: int) -> Tensor:
        """The state after the last piece of each text, at length 1; like lengths read together."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        parts = [
            self._vectors([texts[n] for n in order[start : start + chunk]])
            for start in range(0, len(order), chunk)
        ]
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[back.to(parts[0].device)]

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Tensor:
        device = self.words.weight.device
        rows, lengths = padded(texts, 8)
        rows, lengths = rows.to(device), lengths.to(device)
        places = torch.arange(rows.shape[1], device=device)[None]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            states = self(rows, places)
        last = states[torch.arange(len(rows), device=device), lengths - 1]
        return functional.normalize(last.float(), dim=-1)

    @torch.no_grad()
    def write(
        self,
        before: Sequence[int],
        texts: Sequence[Sequence[int]],
        most: int,
        ends: Tensor,
        heat: float = 1.0,
    ) -> list[list[int]]:
        """What comes after `before` and each text: at most so many pieces, up to one that ends."""
        device = self.words.weight.device
        rows, lengths = padded(texts, 1)
        rows, lengths = rows.to(device), lengths.to(device)
        count, width, first = len(texts), rows.shape[1], len(before)
        room = -(-(first + width + most) // GROWN) * GROWN
        memory = Memory(self, count, room)
        self._remember(memory, before, device)
        at = torch.arange(width, device=device)
        memory.room(width, at < lengths[:, None])
        states = self(rows, (first + at)[None], memory)
        state = states[torch.arange(count, device=device), lengths - 1]
        return self._written(state, first + lengths, memory, most, ends.to(device), heat)

    def _remember(self, memory: Memory, before: Sequence[int], device: torch.device) -> None:
        """Read what all texts begin with, once for all."""
        if not before:
            return
        one = Memory(self, 1, -(-len(before) // GROWN) * GROWN)
        one.room(len(before), torch.ones(1, len(before), dtype=torch.bool, device=device))
        numbers = torch.tensor([before], device=device)
        self(numbers, torch.arange(len(before), device=device)[None], one)
        memory.begin(one)

    def _written(
        self, state: Tensor, places: Tensor, memory: Memory, most: int, ends: Tensor, heat: float
    ) -> list[list[int]]:
        count = len(state)
        made = torch.full((count, most), -1, dtype=torch.long, device=state.device)
        rows = torch.arange(count, device=state.device)
        for step in range(most):
            piece = _drawn(functional.linear(state, self.words.weight), heat)
            made[rows, step] = piece
            if step % 16 == 15:
                on = ~ends[made[rows].clamp_min(0)].logical_and(made[rows] >= 0).any(1)
                if on.float().sum() <= SHORT_OF * count:
                    break
                if on.float().mean() < 0.75:
                    rows, piece, places = rows[on], piece[on], places[on]
                    memory.keep(on)
            memory.room(1, torch.ones(len(rows), 1, dtype=torch.bool, device=state.device))
            state = self(piece[:, None], places[:, None], memory)[:, 0]
            places = places + 1
        stop = ends.tolist()
        return [_until(row, stop) for row in made.tolist()]


def _drawn(scores: Tensor, heat: float, least: float = 0.06) -> Tensor:
    """A piece for each text, by chance, of those not much less likely than the likeliest."""
    scores = scores.float() / heat
    scores = scores.masked_fill(scores < scores.amax(-1, keepdim=True) + math.log(least), -math.inf)
    return torch.multinomial(scores.softmax(-1), 1).squeeze(1)


def _until(row: Sequence[int], stop: Sequence[bool]) -> list[int]:
    found: list[int] = []
    for piece in row:
        if piece < 0:
            break
        found.append(piece)
        if stop[piece]:
            break
    return found


def padded(texts: Sequence[Sequence[int]], step: int) -> tuple[Tensor, Tensor]:
    """Texts as rows, filled up on the right, and how long each is."""
    lengths = np.array([*map(len, texts)])
    width = -(-int(lengths.max()) // step) * step
    rows = np.zeros((len(texts), width), dtype=np.int64)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = text
    return torch.from_numpy(rows), torch.from_numpy(lengths)


def loaded(file: Gguf, device: str) -> LanguageModel:
    """The model in a file. Pieces come in and go out by one matrix, the finer of the two."""
    facts = {name.partition(".")[2]: fact for name, fact in file.facts.items()}
    finer = "output.weight" if "output.weight" in file.names else "token_embd.weight"
    words = file.tensor(finer, device)
    size = Size(
        *words.shape,
        facts["feed_forward_length"],
        facts["block_count"],
        facts["attention.head_count"],
        facts["attention.head_count_kv"],
        facts["attention.layer_norm_rms_epsilon"],
        facts["rope.freq_base"],
    )
    with torch.device("meta"):
        model = LanguageModel(size)
    tensors = {"words.weight": words, "norm.weight": file.tensor("output_norm.weight", device)}
    for name in file.names:
        head, _, rest = name.partition(".")
        if head == "blk":
            number, part, kind = rest.split(".")
            tensors[f"layers.{number}.{PARTS[part]}.{kind}"] = file.tensor(name, device)
    model.load_state_dict(tensors, assign=True)
    model.steps = LanguageModel(size._replace(layers=0, pieces=1)).steps.to(device)
    for each in model.parameters():
        each.requires_grad_()
    return model


def tokenizer(file: Gguf) -> Tokenizer:
    """Texts to the numbers of the pieces of a model, and back."""
    pieces: Sequence[str] = file.facts["tokenizer.ggml.tokens"]
    merges = [tuple(each.split(" ")) for each in file.facts["tokenizer.ggml.merges"]]
    made = Tokenizer(models.BPE({piece: n for n, piece in enumerate(pieces)}, merges))
    made.normalizer = normalizers.NFC()
    cut = pre_tokenizers.Split(Regex(_WORDS), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([cut, level])
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([END])
    return made


def numbers(cut: Tokenizer, texts: Sequence[str], most: int) -> list[list[int]]:
    """The first pieces of each text."""
    return [each.ids[:most] for each in cut.encode_batch(list(texts), add_special_tokens=False)]


def ending(cut: Tokenizer, where: Callable[[str], bool]) -> Tensor:
    """Which pieces end a text: those whose letters say so, and the mark for it."""
    count = cut.get_vocab_size()
    end = cut.token_to_id(END)
    return torch.tensor([n == end or where(cut.decode([n])) for n in range(count)])


def chunks(count: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, count, size))
