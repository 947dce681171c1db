/** The state of a run as its event stream has told it so far. */
import type { RunArtifact } from '../shell/api';
import type { StreamEvent } from '../shell/event-stream';

export interface LogLine {
  /** Of the event: unique within the run. */
  id: string;
  level: 'debug' | 'info' | 'warning' | 'error';
  text: string;
  /** Given to `context.log()` besides the text. */
  fields: Record<string, unknown> | null;
  /** Epoch milliseconds; null where only the text was kept. */
  at: number | null;
}

/** With the attempt that saved it. */
type LiveArtifact = RunArtifact & { attempt: number };

export interface LiveRun {
  lines: LogLine[];
  /** Lines that are no longer shown, because there are too many. */
  dropped: number;
  started: boolean;
  progress: { fraction: number; message: string | null } | null;
  artifacts: LiveArtifact[];
  /** Counts what changes more of the run than its log. */
  changes: number;
  interrupted: boolean;
  done: boolean;
}

/** A browser stays quick with this many; the whole log is part of the finished run. */
export const LINES_MAX = 5_000;

export const nothingYet: LiveRun = {
  lines: [],
  dropped: 0,
  started: false,
  progress: null,
  artifacts: [],
  changes: 0,
  interrupted: false,
  done: false,
};

/** Events of kinds that this page does not know are passed over: the stream may grow. */
export function applyEvents(before: LiveRun, events: StreamEvent[]): LiveRun {
  const after: LiveRun = { ...before, interrupted: false };
  const added: LogLine[] = [];
  for (const { id, event, data } of events) {
    const body = parse(data);
    if (event === 'log') added.push(lineOf(id, body));
    else if (event === 'progress') after.progress = progressOf(body);
    else if (event === 'artifact') after.artifacts = withArtifact(after.artifacts, artifactOf(id, body));
    else if (event === 'status') after.started ||= body.status === 'running';
    else if (event === 'done') after.done = true;
    if (event === 'status' || event === 'step' || event === 'approval') after.changes++;
  }
  if (added.length) {
    const all = before.lines.concat(added);
    after.lines = all.slice(-LINES_MAX);
    after.dropped = before.dropped + all.length - after.lines.length;
  }
  return after;
}

function parse(data: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(data);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Streams are alike on all surfaces and say `content_type`; lists of this surface say `contentType`. */
const artifactOf = (id: string, { artifact_id, content_type, ...body }: Record<string, unknown>) =>
  ({
    ...body,
    id: artifact_id,
    contentType: content_type,
    attempt: Math.floor(Number(id) / EVENTS_OF_ATTEMPT),
  }) as LiveArtifact;

/** Numbers of events begin anew at a multiple of it when the code runs again from the top. */
const EVENTS_OF_ATTEMPT = 1_000_000;

/** Code that runs again replaces what it saved under the same name. */
const withArtifact = (all: LiveArtifact[], saved: LiveArtifact): LiveArtifact[] => [
  ...all.filter(({ name, attempt }) => name !== saved.name || attempt === saved.attempt),
  saved,
];

const lineOf = (id: string, { level, text, fields, at }: Record<string, unknown>): LogLine => ({
  id,
  level: levelOf(level),
  text: String(text ?? ''),
  fields: typeof fields === 'object' ? (fields as LogLine['fields']) : null,
  at: timeOf(at),
});

const levelOf = (level: unknown): LogLine['level'] =>
  level === 'debug' || level === 'warning' || level === 'error' ? level : 'info';

function timeOf(at: unknown): number | null {
  const time = typeof at === 'number' ? at : Date.parse(String(at));
  return Number.isNaN(time) ? null : time;
}

function progressOf(body: Record<string, unknown>): LiveRun['progress'] {
  const fraction = Number(body.fraction);
  if (!Number.isFinite(fraction)) return null;
  return {
    fraction: Math.min(1, Math.max(0, fraction)),
    message: typeof body.message === 'string' ? body.message : null,
  };
}

/** The log of a finished run, whose lines have no levels of their own. */
export const linesOf = (logs: string): LogLine[] =>
  logs
    .replace(/\n$/, '')
    .split('\n')
    .slice(-LINES_MAX)
    .map((text, index) => ({ id: `line-${index}`, level: 'info', text, fields: null, at: null }));
