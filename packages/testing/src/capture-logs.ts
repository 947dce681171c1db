import { logOptions } from '@gantry/http';
import { type Logger, pino } from 'pino';

export interface CapturedLogs {
  log: Logger;
  /** Each line as the object that was logged; `level` is pino's number (30 info, 40 warn, 50 error). */
  lines: Record<string, unknown>[];
  /** Everything that was written, for asking what must not be in it. */
  text(): string;
}

/** A logger as the services have it, whose lines land in an array. */
export function captureLogs(level = 'debug'): CapturedLogs {
  const written: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => {
    written.push(line);
    lines.push(JSON.parse(line));
  };
  return { log: pino({ level, ...logOptions }, { write }), lines, text: () => written.join('') };
}
