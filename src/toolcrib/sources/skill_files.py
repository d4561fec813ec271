"""The files in the folder of a skill: named, and read one at a time.

Nothing outside the folder is read, whatever a path or a link says, and nothing hidden in it.
"""

from itertools import islice
from pathlib import Path

from toolcrib.errors import DeclarationError, SourceError
from toolcrib.model import SkillInfo
from toolcrib.sources.text_file import MAX_BYTES, decoded
from toolcrib.text import without_hidden
from toolcrib.tools.own import Own
from toolcrib.tools.roots import Roots
from toolcrib.tools.walk import walk

MOST_FILES = 40


def skill_files(skill: SkillInfo, own: Own) -> tuple[str, ...]:
    """The paths of the files beside SKILL.md, within its folder; at most `MOST_FILES`.

    One in whose name something is hidden is left out.
    """
    main = Path(skill.path)
    if not skill.path or not main.parent.is_dir():
        return ()
    roots = Roots([main.parent], own)
    found = (
        path.relative_to(main.parent).as_posix()
        for path in walk(main.parent, roots.is_own)
        if path != main and path.is_file() and not path.is_symlink()
    )
    return tuple(islice(filter(_is_plain, found), MOST_FILES))


def read_skill_file(skill: SkillInfo, path: str, own: Own) -> str:
    """The text of a file in the folder of a skill, without what is hidden in it.

    Raises `SourceError`: for a path that leads out of the folder or to what is hidden there, for
    what is no file, is too large or is no text.
    """
    if not skill.path:
        raise SourceError(f"{skill.name!r} has no folder, and so no files")
    if any(part.startswith(".") for part in Path(path).parts):
        raise _elsewhere(skill, path)
    roots = Roots([Path(skill.path).parent], own)
    try:
        place = roots.resolve(path)
        if not place.is_file():
            raise SourceError(f"{skill.name!r} has no file {path!r:.200}; read the skill itself")
        with roots.open(place) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise SourceError(f"{path!r} of {skill.name!r} is larger than {MAX_BYTES} bytes")
        return without_hidden(decoded(place, content))
    except PermissionError:
        raise _elsewhere(skill, path) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"{path!r:.200} of {skill.name!r} cannot be read: {error}") from error
    except DeclarationError:
        raise SourceError(f"{path!r} of {skill.name!r} is not UTF-8 text") from None


def _is_plain(name: str) -> bool:
    return name.isprintable() and without_hidden(name) == name


def _elsewhere(skill: SkillInfo, path: str) -> SourceError:
    return SourceError(f"{path!r:.200} is not among the files of {skill.name!r}; name one of those")
