/** Output of a child process: all of it goes to its file, and lines that the operator should read to the terminal. */
import readline from 'node:readline';
import type { Readable } from 'node:stream';
import type { LogFile } from './log-file';
import { shortenLogLine } from './shorten-log-line';

export type WriteLogLine = (line: string) => void;

/** pino's number of `warn`; its lines begin with the level. */
const LEVEL = /^\{"level":(\d+)/;
const WARN = 40;
/** The same line is shown once in this time: a service that can't reach its database says so at every attempt. */
const REPEAT_MS = 60_000;

export function captureOutput(options: {
  name: string;
  output: Readable;
  file: LogFile;
  isAlarming?: (line: string) => boolean;
  show: WriteLogLine;
}): void {
  const { name, output, file, isAlarming, show } = options;
  const shownAt = new Map<string, number>();

  function showOnce(text: string) {
    const now = Date.now();
    for (const [earlier, at] of shownAt) if (now - at > REPEAT_MS) shownAt.delete(earlier);
    if (shownAt.has(text)) return;
    shownAt.set(text, now);
    show(text);
  }

  readline.createInterface({ input: output, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    file.write(line);
    const level = LEVEL.exec(line);
    if (level ? Number(level[1]) >= WARN : isAlarming?.(line)) showOnce(`${name}: ${shortenLogLine(line)}`);
  });
}
