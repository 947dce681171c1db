/** Where the output of a child process goes: all of it to its file, what somebody should know about to the terminal. */
import readline from 'node:readline';
import type { Readable } from 'node:stream';
import type { LogFile } from './log-file';

export type Show = (line: string) => void;

/** pino's number of `warn`; its lines begin with the level. */
const LEVEL = /^\{"level":(\d+)/;
const WARN = 40;
const SHOWN_CHARS = 300;

export function keepOutput(options: {
  name: string;
  output: Readable;
  file: LogFile;
  isAlarming?: (line: string) => boolean;
  show: Show;
}): void {
  const { name, output, file, isAlarming, show } = options;
  readline.createInterface({ input: output, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    file.write(line);
    const level = LEVEL.exec(line);
    if (level ? Number(level[1]) >= WARN : isAlarming?.(line)) show(`${name}: ${brief(line)}`);
  });
}

/** The message of a pino line and that of the error it carries; any other line as it is. */
export function brief(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    const reason = err?.message && err.message !== msg ? ` (${err.message})` : '';
    return `${level >= 50 ? 'error' : 'warning'}: ${msg ?? ''}${reason}`.slice(0, SHOWN_CHARS);
  } catch {
    return line.slice(0, SHOWN_CHARS);
  }
}
