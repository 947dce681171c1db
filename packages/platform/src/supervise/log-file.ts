/** A log file that does not grow for ever: at its limit it becomes `<name>.1`, replacing the one before. */
import fs from 'node:fs';

const BYTES_MAX = 10 << 20;

export type LogFile = ReturnType<typeof openLogFile>;

export function openLogFile(file: string, bytesMax = BYTES_MAX) {
  let stream: fs.WriteStream | undefined;
  let size = 0;
  let dropped = 0;
  let closed = false;

  /** Opened anew after every error: a stream writes nothing more after its first. */
  function open(): fs.WriteStream {
    const opened = fs.createWriteStream(file, { fd: fs.openSync(file, 'a', 0o600) });
    opened.on('error', (err) => {
      if (stream === opened) stream = undefined;
      countDroppedLine(err);
    });
    size = fs.statSync(file).size;
    return opened;
  }

  function countDroppedLine(err: Error) {
    if (!dropped++) process.stderr.write(`cannot write ${file}: ${err.message}\n`);
  }

  function rotate() {
    stream?.end();
    stream = undefined;
    fs.renameSync(file, `${file}.1`);
  }

  function write(line: string) {
    const text = dropped ? `at least ${dropped} lines are missing here\n${line}\n` : `${line}\n`;
    if (stream && size > bytesMax) rotate();
    stream ??= open();
    size += Buffer.byteLength(text);
    stream.write(text, (err) => {
      if (!err) dropped = 0;
    });
  }

  return {
    /** Never throws. While the disk is full, lines are dropped; the next one that is written is preceded by their number. */
    write: (line: string) => {
      if (closed) return;
      try {
        write(line);
      } catch (err) {
        countDroppedLine(err as Error);
      }
    },
    close: () => {
      closed = true;
      return new Promise<void>((resolve) => (stream ? stream.end(() => resolve()) : resolve()));
    },
  };
}

/** The same for a file that another process appends to, and can't be asked to reopen. */
export function shortenLog(file: string, bytesMax = BYTES_MAX): void {
  try {
    if (fs.statSync(file).size <= bytesMax) return;
    fs.copyFileSync(file, `${file}.1`);
    fs.truncateSync(file);
  } catch {
    // Not there yet, or no room for the copy: the next time.
  }
}
