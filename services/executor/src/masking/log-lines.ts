/** Converts a run's output to log lines: masked first, then split at line ends, within a budget. */
import type { RunEvent } from '@gantry/events';
import { maskPossiblyTruncated, type RedactedStream, type Redactor } from '@gantry/masking';

export type LogEvent = Extract<RunEvent, { type: 'log' }>;
export type LogLevel = LogEvent['level'];
type Line = Omit<LogEvent, 'seq' | 'at' | 'type'>;

/** Longer lines are split, so that one message can hold each of them. */
const LINE_BYTES_MAX = 16 * 1024;
/** Fields are part of their line, so both must fit into one message after any escaping. */
const FIELDS_BYTES_MAX = 64 * 1024;
/** Charged per line, so that a flood of empty lines reaches the limit too. */
const LINE_OVERHEAD_BYTES = 48;
/** Limit of one record, as the harness truncates it. */
const RECORD_CHARS_MAX = 30_000;
const NEWLINE = 10;

type LogStream = 'stdout' | 'stderr';
const STREAM_LEVELS: Record<LogStream, LogLevel> = { stdout: 'info', stderr: 'warning' };

export type RunLog = ReturnType<typeof createRunLog>;

export function createRunLog(options: { redactor: Redactor; bytesMax: number; emit: (line: Line) => void }) {
  const { redactor, emit } = options;
  let bytesLeft = options.bytesMax;
  let full = false;
  const streams = { stdout: openStream(redactor.stream()), stderr: openStream(redactor.stream()) };

  function openStream(redacted: RedactedStream) {
    return { masked: redacted, partial: [] as Buffer[], partialBytes: 0 };
  }

  const emitPlatformLine = (text: string, level: LogLevel = 'info') => emit({ stream: 'platform', level, text });

  function consumeBytes(bytes: number): boolean {
    if (full) return false;
    bytesLeft -= bytes + LINE_OVERHEAD_BYTES;
    if (bytesLeft >= 0) return true;
    full = true;
    emitPlatformLine(`The log limit of ${options.bytesMax} bytes was reached: further output is dropped.`, 'warning');
    return false;
  }

  function emitLine(stream: LogStream, bytes: Buffer) {
    if (consumeBytes(bytes.length)) emit({ stream, level: STREAM_LEVELS[stream], text: replaceNul(bytes.toString()) });
  }

  function emitLines(stream: LogStream, chunk: Buffer) {
    if (full || chunk.length === 0) return;
    const state = streams[stream];
    let from = 0;
    // Bounded: each search begins behind the line before, and a partial line is joined once.
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && !full; at = chunk.indexOf(NEWLINE, from)) {
      const end = at > from && chunk[at - 1] === 13 ? at - 1 : at;
      const whole = state.partialBytes
        ? Buffer.concat([...state.partial, chunk.subarray(from, end)])
        : chunk.subarray(from, end);
      state.partial = [];
      state.partialBytes = 0;
      for (const piece of splitLine(whole)) emitLine(stream, piece);
      from = at + 1;
    }
    let rest = chunk.subarray(from);
    if (state.partialBytes + rest.length > LINE_BYTES_MAX) {
      const parts = splitLine(Buffer.concat([...state.partial, rest]));
      rest = parts.pop() ?? Buffer.alloc(0);
      state.partial = [];
      state.partialBytes = 0;
      for (const piece of parts) emitLine(stream, piece);
    }
    if (rest.length) {
      state.partial.push(Buffer.from(rest));
      state.partialBytes += rest.length;
    }
  }

  return {
    /** Emits a line from the platform itself: not masked, not counted. */
    platform: emitPlatformLine,
    /** Receives raw bytes of stdout or stderr, in arbitrary chunks. */
    write: (stream: LogStream, chunk: Buffer) => {
      if (!full) emitLines(stream, streams[stream].masked.push(chunk));
    },
    /** Emits one record of context.log() or logging. */
    record(level: string, text: string, fields: Record<string, unknown> | undefined) {
      const known = (['debug', 'info', 'warning', 'error'] as const).find((one) => one === level) ?? 'info';
      if (full) return;
      const masked = fields && limitFields(replaceNulInJson(redactor.json(fields)) as Record<string, unknown>);
      maskPossiblyTruncated(redactor, text, RECORD_CHARS_MAX)
        .split('\n')
        .flatMap((one) => splitLine(Buffer.from(one)))
        .forEach((piece, index) => {
          const own = index === 0 && masked ? { fields: masked.fields } : {};
          if (consumeBytes(piece.length + (index === 0 && masked ? masked.bytes : 0)))
            emit({ stream: 'context', level: known, text: replaceNul(piece.toString()), ...own });
        });
    },
    /** Emits text that was held back or lacked a line end. */
    end() {
      for (const stream of ['stdout', 'stderr'] as const) {
        emitLines(stream, streams[stream].masked.end());
        const rest = Buffer.concat(streams[stream].partial);
        if (rest.length) for (const piece of splitLine(rest)) emitLine(stream, piece);
        streams[stream] = openStream(redactor.stream());
      }
    },
  };
}

/** Limits the serialised size: a number such as 1e20 takes five times the bytes that it arrived in. */
function limitFields(fields: Record<string, unknown>): { fields: Record<string, unknown>; bytes: number } {
  const bytes = Buffer.byteLength(JSON.stringify(fields));
  if (bytes <= FIELDS_BYTES_MAX) return { fields, bytes };
  const problem = `omitted: ${bytes} bytes of JSON; the limit for one line is ${FIELDS_BYTES_MAX} bytes`;
  return { fields: { fields: problem }, bytes: problem.length };
}

/** Splits a line so that no piece is too long and no character is broken. */
function splitLine(line: Buffer): Buffer[] {
  if (line.length <= LINE_BYTES_MAX) return [line];
  const parts: Buffer[] = [];
  for (let from = 0; from < line.length; ) {
    let to = Math.min(line.length, from + LINE_BYTES_MAX);
    for (let back = 0; back < 3 && to < line.length && ((line[to] ?? 0) & 0xc0) === 0x80; back++) to--;
    parts.push(line.subarray(from, to));
    from = to;
  }
  return parts;
}

/** Replaces NUL, which PostgreSQL cannot store in text or JSON. */
export const replaceNul = (text: string) => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text);

/** Masks a text that the harness and the reader of its messages truncate at the limit. */
export const maskText = (redactor: Redactor, text: string, charsMax: number): string =>
  replaceNul(maskPossiblyTruncated(redactor, text, charsMax)).slice(0, charsMax);

export function replaceNulInJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (!text?.includes('\\u0000')) return value;
  return JSON.parse(text, (_, inner) => (typeof inner === 'string' ? replaceNul(inner) : inner));
}
