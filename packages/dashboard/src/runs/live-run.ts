/** The state of a run according to its event stream so far, without its log and requests. */

import { parseEventData, type StreamEvent } from '@gantry/sdk';
import type { RunArtifact } from '../shell/api';
import { type AgentPart, isAgentPart, partOf } from './conversation/agent-part';
import { type LogLine, lineOf } from './log/log-line';
import { type RunRequest, requestOf } from './requests/run-request';

/** An artifact with the attempt that saved it and the time. */
export type LiveArtifact = RunArtifact & { attempt: number; at: number | null };

/** The status of the run from then on. */
export interface LiveStatus {
  attempt: number;
  status: string;
  /** Epoch milliseconds. */
  at: number;
  /** `retry` and the like, of a run that waits. */
  waitsFor: string | null;
}

export interface LiveRun {
  started: boolean;
  statuses: LiveStatus[];
  progress: { fraction: number; message: string | null } | null;
  artifacts: LiveArtifact[];
  /** Texts, calls and results of an agent. */
  parts: readonly AgentPart[];
  /** Number of events that change more of the run than its log. */
  changes: number;
  interrupted: boolean;
  done: boolean;
}

export const nothingYet: LiveRun = {
  started: false,
  statuses: [],
  progress: null,
  artifacts: [],
  parts: [],
  changes: 0,
  interrupted: false,
  done: false,
};

type Body = Record<string, unknown>;

interface Applied {
  live: LiveRun;
  lines: LogLine[];
  requests: RunRequest[];
}

/** Applies events to the state. Unknown kinds are ignored: the stream may grow. */
export function applyEvents(before: LiveRun, events: StreamEvent[]): Applied {
  const live: LiveRun = { ...before, interrupted: false };
  const lines: LogLine[] = [];
  const requests: RunRequest[] = [];
  const parts: AgentPart[] = [];
  for (const told of events) {
    const { id, event } = told;
    const body = parseEventData(told);
    if (event === 'log') lines.push(lineOf(id, body));
    else if (event === 'request') requests.push(requestOf({ id, attempt: attemptOf(id), endedAt: timeOf(body) }, body));
    else if (isAgentPart(event)) parts.push(partOf(event, body, { at: timeOf(body), attempt: attemptOf(id) }));
    else if (event === 'progress') live.progress = progressOf(body);
    else if (event === 'artifact') live.artifacts = withArtifact(live.artifacts, artifactOf(id, body));
    else if (event === 'status' || event === 'done') {
      live.started ||= body.status === 'running';
      live.done ||= event === 'done';
      live.statuses = [...live.statuses, ...statusOf(id, body)];
    }
    if (event === 'status' || event === 'step' || event === 'approval') live.changes++;
  }
  if (parts.length) live.parts = [...live.parts, ...parts];
  return { live, lines, requests };
}

/** Numbers of events start again at a multiple of it when the code runs again from the top. */
const EVENTS_OF_ATTEMPT = 1_000_000;

const attemptOf = (id: string): number => Math.floor(Number(id) / EVENTS_OF_ATTEMPT);

const timeOf = ({ at }: Body): number | null => {
  const time = typeof at === 'number' ? at : Date.parse(String(at));
  return Number.isNaN(time) ? null : time;
};

function statusOf(id: string, body: Body): LiveStatus[] {
  const at = timeOf(body);
  if (at === null || typeof body.status !== 'string') return [];
  const waiting = body.waiting_for as { kind?: string } | null | undefined;
  return [{ attempt: attemptOf(id), status: body.status, at, waitsFor: waiting?.kind ?? null }];
}

/** Streams are alike on all surfaces and say `content_type`; lists of this surface say `contentType`. */
const artifactOf = (id: string, { artifact_id, content_type, at, ...body }: Body) =>
  ({
    ...body,
    id: artifact_id,
    contentType: content_type,
    attempt: attemptOf(id),
    at: timeOf({ at }),
  }) as LiveArtifact;

/** Adds an artifact; a later attempt replaces files of the same name. */
const withArtifact = (all: LiveArtifact[], saved: LiveArtifact): LiveArtifact[] => [
  ...all.filter(({ name, attempt }) => name !== saved.name || attempt === saved.attempt),
  saved,
];

function progressOf(body: Body): LiveRun['progress'] {
  const fraction = Number(body.fraction);
  if (!Number.isFinite(fraction)) return null;
  return {
    fraction: Math.min(1, Math.max(0, fraction)),
    message: typeof body.message === 'string' ? body.message : null,
  };
}
