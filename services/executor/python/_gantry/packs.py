"""Contexts: sets of files that a run finds at contexts/<name>/ in its working directory.

They are bind-mounted read-only from the executor's store. A writeable one is a copy on the run's own /tmp, next to the
original: if it differs when run() has returned, it is sent back in full, as a zip.
"""
import os
import stat

from . import channel

DIRECTORY, SOURCES = "/tmp/contexts", "/tmp/.contexts"


def receive(contexts):
    if not contexts:
        return
    import shutil                                               # lazy: saves time in a cold process without contexts
    os.environ["CONTEXTS_DIR"] = DIRECTORY
    for name in _writeable(contexts):
        source_dir, own_dir = os.path.join(SOURCES, name), os.path.join(DIRECTORY, name)
        try:
            os.makedirs(own_dir)
            for path in _files(source_dir):
                target = os.path.join(own_dir, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(os.path.join(source_dir, path), target)
        except OSError as error:
            raise OSError(f"context {name!r} cannot be copied to /tmp: {error.strerror}") from None


def send_changed(contexts, warn):
    """Sends the changed writeable contexts. `warn` is called for files that cannot be part of a pack. OSError if a pack
    cannot be saved."""
    for name in _writeable(contexts):
        source_dir, own_dir = os.path.join(SOURCES, name), os.path.join(DIRECTORY, name)
        if not stat.S_ISDIR(os.lstat(own_dir).st_mode):
            raise OSError(f"context {name!r} cannot be saved: contexts/{name} is not a directory any more")
        files = _files(own_dir, lambda path, why: warn(f"{os.path.join('contexts', name, path)!r} {why}, and is not saved."))
        if files != _files(source_dir) or any(_differ(os.path.join(source_dir, path), os.path.join(own_dir, path)) for path in files):
            _send(name, own_dir, files)


def _send(name, root, files):
    import shutil
    import tempfile
    import zipfile
    # In a file, not in memory: /tmp has its own limit, with its own error.
    with tempfile.TemporaryFile(dir="/tmp") as pack:
        with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                info = zipfile.ZipInfo(path)                    # a constant date: equal files give an equal pack
                info.external_attr = (stat.S_IFREG | 0o644) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                with _open(os.path.join(root, path)) as source, archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target)
        size = pack.seek(0, os.SEEK_END)
        pack.seek(0)
        pieces = iter(lambda: pack.read(channel.CHUNK_BYTES), b"")
        answer, _ = channel.upload({"t": "context", "name": name, "size": size}, pieces)
    if answer.get("refused"):
        raise OSError(f"context {name!r} could not be saved: {answer['refused']}")


def _writeable(contexts):
    return [each["name"] for each in contexts if each["writeable"]]


def _files(root, skipped=lambda path, why: None):
    """Lists relative paths of the regular files, sorted; links are not followed."""
    found = []
    for folder, folders, names in os.walk(root):
        for name in names + [each for each in folders if os.path.islink(os.path.join(folder, each))]:
            path = os.path.relpath(os.path.join(folder, name), root)
            if not stat.S_ISREG(os.lstat(os.path.join(folder, name)).st_mode):
                skipped(path, "is not a regular file")
            elif not path.isprintable() or "\\" in path:
                skipped(path, "has a name that is not portable")
            else:
                found.append(path)
    return sorted(found)


def _open(path):
    return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")


def _differ(first, second):
    with _open(first) as a, _open(second) as b:
        if os.fstat(a.fileno()).st_size != os.fstat(b.fileno()).st_size:
            return True
        while piece := a.read(1 << 16):
            if piece != b.read(1 << 16):
                return True
    return False
