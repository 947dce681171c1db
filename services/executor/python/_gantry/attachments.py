"""Images and files in model calls: uploaded to the platform once, and identified by their digest afterwards."""
import os
import stat

from . import channel
from .content_types import guess_content_type

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
FILES_MAX, FILE_BYTES_MAX, BYTES_MAX = 10, 5 << 20, 20 << 20


class Attachments:
    """The attachments of one run: an uploaded file is not sent a second time."""

    def __init__(self):
        self._uploaded = set()

    def replace_files(self, messages):
        """Returns (the messages with digests in place of files, the files to upload before the call)."""
        files = {}
        replaced = [self._replace_files(each, files) for each in messages]
        if sum(len(data) for data, _ in files.values()) > BYTES_MAX:
            raise ValueError(f"the images and files of a question can have {BYTES_MAX >> 20} MB together")
        parts = [part for each in replaced if isinstance(each["content"], list) for part in each["content"] if "sha256" in part]
        if len(parts) > FILES_MAX:
            raise ValueError(f"a question can have {FILES_MAX} images and files, not {len(parts)}")
        return replaced, files

    def upload(self, files):
        for digest, (data, media_type) in files.items():
            if digest not in self._uploaded:
                _upload(digest, data, media_type)
                self._uploaded.add(digest)

    def _replace_files(self, message, files):
        content = message["content"]
        if not isinstance(content, (list, tuple)):
            return message
        return {**message, "content": [self._part(part, files) for part in content]}

    def _part(self, part, files):
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str) or kind == "text":
            return {"type": "text", "text": part if isinstance(part, str) else str(part.get("text", ""))}
        if kind not in ("image", "file") or ("data" in part) == ("path" in part):
            raise ValueError('a part of a message is a text, or {"type": "image" | "file", "data": bytes or "path": ..., "media_type": ...}')
        name = part.get("name") or (os.path.basename(os.fspath(part["path"])) if "path" in part else None)
        data = _read(part["path"]) if "path" in part else part["data"]
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"the data of an {kind} must be bytes, not {type(data).__name__}")
        data, media_type = bytes(data), part.get("media_type") or (guess_content_type(name) if name else None)
        if len(data) > FILE_BYTES_MAX:
            raise ValueError(f"{name or kind} has {len(data)} bytes; an image or a file for a model can have {FILE_BYTES_MAX >> 20} MB")
        if not _is_accepted(kind, media_type):
            raise ValueError(f"{name or kind}: media_type {media_type!r} is not for a model; images are {', '.join(IMAGES)}, "
                             "files also application/pdf and text/*")
        import hashlib                                          # lazy: few runs use it
        digest = hashlib.sha256(data).hexdigest()
        files[digest] = data, media_type
        reference = {"type": kind, "sha256": digest, "media_type": media_type}
        return {**reference, "name": str(name)[:255]} if name else reference


def _is_accepted(kind, media_type):
    if media_type in IMAGES:
        return True
    if kind != "file" or not isinstance(media_type, str):
        return False
    import re                                                   # lazy: few runs use it
    return media_type == "application/pdf" or re.fullmatch(r"text/[\w.+-]{1,60}", media_type, re.ASCII) is not None


def _read(path):
    # O_NONBLOCK: opening a FIFO must not wait for a writer.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError(f"{os.fspath(path)} is not a regular file")
        return file.read(FILE_BYTES_MAX + 1)


def _upload(digest, data, media_type):
    announcement = {"t": "attachment", "sha256": digest, "contentType": media_type, "size": len(data)}
    pieces = (data[i:i + channel.CHUNK_BYTES] for i in range(0, len(data), channel.CHUNK_BYTES))
    answer, _ = channel.upload(announcement, pieces)
    if answer.get("refused"):
        raise OSError(f"a file for a model could not be uploaded: {answer['refused']}")
