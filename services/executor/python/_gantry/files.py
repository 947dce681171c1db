"""Reads files for an agent: those of its task, its contexts and its skills."""
import os
import unicodedata

FILES_MAX = 1_000
CHARS_MAX = 40_000
HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))
# Default_Ignorable_Code_Point beyond these categories.
HIDDEN_RANGES = ((0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x3164, 0x3164),
                 (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))


def without_front_matter(text):
    text = text.removeprefix("\ufeff")
    if not text.startswith("---\n"):
        return text
    head, found, body = text[4:].partition("\n---\n")
    return body if found else text


def without_hidden(text):
    """Removes control, invisible and bidirectional characters, in which instructions can hide from a person who reads
    them. Line breaks and tabs stay."""
    return "".join(each for each in text if " " <= each <= "~" or not _is_hidden(each))


def _is_hidden(character):
    code = ord(character)
    return character not in "\n\t" and (
        unicodedata.category(character) in HIDDEN_CATEGORIES or any(first <= code <= last for first, last in HIDDEN_RANGES))


def list_files(root):
    found = (os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names)
    return sorted(found)[:FILES_MAX]


def read_within(root, path, chars_max=CHARS_MAX, errors="replace"):
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(os.path.realpath(root) + os.sep):
        raise ValueError(f"{path!r} is outside of the folder")
    with open(real, encoding="utf-8", errors=errors) as file:
        return file.read(chars_max)
