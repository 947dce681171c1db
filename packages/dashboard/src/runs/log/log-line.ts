import { hasSequences, stripSequences } from './ansi';

export const LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type Level = (typeof LEVELS)[number];

export interface LogLine {
  /** Id of the event: unique within the run. */
  id: string;
  level: Level;
  /** As it was printed, with its colours. */
  text: string;
  /** Without them. */
  plain: string;
  /** Given to `context.log()` besides the text. */
  fields: Record<string, unknown> | null;
  /** Epoch milliseconds; null where only the text was kept. */
  at: number | null;
}

/** Converts a log event to a line. */
export function toLogLine(id: string, { level, text, fields, at }: Record<string, unknown>): LogLine {
  const shown = resolveCarriageReturns(String(text ?? ''));
  return {
    id,
    level: toLevel(level),
    text: shown,
    plain: hasSequences(shown) ? stripSequences(shown) : shown,
    fields: typeof fields === 'object' ? (fields as LogLine['fields']) : null,
    at: parseTime(at),
  };
}

/** Programs that show progress return to the start of the line and overwrite it. */
function resolveCarriageReturns(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\r') end--;
  return text.slice(end && text.lastIndexOf('\r', end - 1) + 1, end);
}

const toLevel = (level: unknown): Level => LEVELS.find((known) => known === level) ?? 'info';

/** Parses the time of an event; null for one without. */
export function parseTime(at: unknown): number | null {
  const time = typeof at === 'number' ? at : Date.parse(String(at));
  return Number.isNaN(time) ? null : time;
}

/** Parses the log of a finished run, whose lines have no levels. */
export const parseLogLines = (logs: string): LogLine[] =>
  logs
    .replace(/\n$/, '')
    .split('\n')
    .map((text, index) => toLogLine(`line-${index}`, { text }));

export const formatFields = (fields: Record<string, unknown>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');

/** Formats a line of a saved log. */
export const formatLogLine = ({ at, level, plain, fields }: LogLine): string =>
  [at !== null && new Date(at).toISOString(), level.padEnd(7), plain, fields && formatFields(fields)]
    .filter(Boolean)
    .join(' ');
