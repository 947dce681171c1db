/** A log file that does not grow for ever: at its limit it becomes `<name>.1`, replacing the one before. */
import fs from 'node:fs';

const BYTES_MAX = 10 << 20;

export interface LogFile {
  write(line: string): void;
  close(): Promise<void>;
}

export function openLogFile(file: string, bytesMax = BYTES_MAX): LogFile {
  const open = () =>
    fs
      .createWriteStream(file, { fd: fs.openSync(file, 'a', 0o600) })
      .on('error', (err) => process.stderr.write(`cannot write ${file}: ${err.message}\n`));
  let stream = open();
  let size = fs.statSync(file).size;
  let closed = false;

  return {
    write: (line) => {
      if (closed) return;
      if (size > bytesMax) {
        stream.end();
        fs.renameSync(file, `${file}.1`);
        stream = open();
        size = 0;
      }
      size += Buffer.byteLength(line) + 1;
      stream.write(`${line}\n`);
    },
    close: () => {
      closed = true;
      return new Promise((resolve) => stream.end(() => resolve()));
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
