"""Many texts as few requests."""

from collections.abc import Iterator, Sequence


def batches(texts: Sequence[str], *, most: int, most_characters: int) -> Iterator[list[str]]:
    """The texts in order, at most `most` at a time and `most_characters` in sum.

    No batch is empty; a text that is longer than the sum goes alone.
    """
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == most or characters + len(text) > most_characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
