"""Reads files for an agent: those of its task, its contexts and its skills."""
import os

FILES_MAX = 1_000
CHARS_MAX = 40_000


def without_front_matter(text):
    if not text.startswith("---\n"):
        return text
    head, found, body = text[4:].partition("\n---\n")
    return body if found else text


def list_files(root):
    found = (os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names)
    return sorted(found)[:FILES_MAX]


def read_within(root, path, chars_max=CHARS_MAX):
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(os.path.realpath(root) + os.sep):
        raise ValueError(f"{path!r} is outside of the folder")
    with open(real, encoding="utf-8", errors="replace") as file:
        return file.read(chars_max)
