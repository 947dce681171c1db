"""Skills of an agent: their names and descriptions are in its system prompt, their texts and files are loaded on
request."""
import os

from . import files

PAGE_CHARS, OFFSET_MAX = 14_000, 10_000_000
LISTED_FILES, LISTED_CHARS = 100, 1_800

INTRODUCTION = """

# Skills

Each skill is instructions for one kind of work, and belongs to your task. Before work of that kind, call use_skill with its name.
These are their names and descriptions:

<data>
{}
</data>"""


class SkillText(str):
    """Instructions that belong to the task, not data."""

    def wrapped(self):
        return f"<skill>\n{self.replace('</skill', '&lt;/skill')}\n</skill>"


class Skills:
    def __init__(self, root, listed):
        self._folders = {one["name"]: (os.path.join(root, one["folder"]), one["folder"]) for one in listed}
        self.names = list(self._folders)
        lines = "\n".join(f"- {one['name']}: {one['description']}" for one in listed)
        closed = lines.replace("<data", "&lt;data").replace("</data", "&lt;/data")
        self.prompt = INTRODUCTION.format(closed) if listed else ""

    def has_file(self, path):
        return any(path.startswith(folder + os.sep) for _, folder in self._folders.values())

    def check(self, name):
        if name not in self._folders:
            raise ValueError(f"there is no skill {name!r}; there are {', '.join(self.names)}")

    def read(self, name, path, offset):
        """Reads a page of a file in the skill's folder. path None: of its SKILL.md, followed by the names of the other
        files."""
        folder = self._folders[name][0]
        if not isinstance(offset, int) or not 0 <= offset <= OFFSET_MAX:
            raise ValueError(f"offset must be a number of characters, up to {OFFSET_MAX}")
        end = offset + PAGE_CHARS
        if path is None:
            text = files.without_front_matter(files.read_within(folder, "SKILL.md"))
        else:
            text = _read_text(folder, path, end + 1)
        more = f"\n\n[There is more: go on with offset {end}]" if len(text) > end else ""
        others = _describe_files(folder) if path is None and offset == 0 else ""
        listed = f"\n\n[Files of this skill, in {folder}: {others}]" if others else ""
        return files.without_hidden(text[offset:end]) + more + listed


def _read_text(folder, path, chars_max):
    try:
        text = files.read_within(folder, path, chars_max, errors="strict")
    except UnicodeDecodeError:
        text = "\0"
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        others = _describe_files(folder)
        raise ValueError(f"the skill has no file {path!r}; " + (f"it has {others}" if others else "it has only its text")) from None
    if "\0" in text:
        raise ValueError(f"{path!r} is binary: it cannot be read as text, only programs can read it, in {folder}")
    return text


def _describe_files(folder):
    """Lists the files beside SKILL.md, as far as they fit, and counts the others."""
    names = [path for path in files.list_files(folder)
             if path != "SKILL.md" and "__pycache__" not in path and files.without_hidden(path) == path]
    listed = names[:LISTED_FILES]
    while len(", ".join(listed)) > LISTED_CHARS:
        listed.pop()
    left = len(names) - len(listed)
    return ", ".join(listed) + (f" and {left} more" if left else "")
