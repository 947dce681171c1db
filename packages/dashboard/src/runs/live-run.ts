/** The state of a run according to its event stream so far, without its log and requests. */

import { parseEventData, type StreamEvent } from '@gantry/sdk';
import type { RunArtifact } from '../shell/api';
import { type AgentPart, isAgentPart, toAgentPart } from './conversation/agent-part';
import { type LogLine, parseTime, toLogLine } from './log/log-line';
import { type RunRequest, toRunRequest } from './requests/run-request';

/** An artifact with the attempt that saved it and the time. */
type LiveArtifact = RunArtifact & { attempt: number; at: number | null };

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

export const EMPTY_LIVE_RUN: LiveRun = {
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

interface AppliedEvents {
  live: LiveRun;
  lines: LogLine[];
  requests: RunRequest[];
}

/** Applies events to the state. Unknown kinds are ignored: the stream may grow. */
export function applyEvents(before: LiveRun, events: StreamEvent[]): AppliedEvents {
  const live: LiveRun = { ...before, interrupted: false };
  const lines: LogLine[] = [];
  const requests: RunRequest[] = [];
  const parts: AgentPart[] = [];
  for (const streamEvent of events) {
    const { id, event } = streamEvent;
    const body = parseEventData(streamEvent);
    if (event === 'log') lines.push(toLogLine(id, body));
    else if (event === 'request')
      requests.push(toRunRequest({ id, attempt: getAttempt(id), endedAt: parseTime(body.at) }, body));
    else if (isAgentPart(event))
      parts.push(toAgentPart(event, body, { at: parseTime(body.at), attempt: getAttempt(id) }));
    else if (event === 'progress') live.progress = parseProgress(body);
    else if (event === 'artifact') live.artifacts = addArtifact(live.artifacts, toLiveArtifact(id, body));
    else if (event === 'status' || event === 'done') {
      live.started ||= body.status === 'running';
      live.done ||= event === 'done';
      live.statuses = [...live.statuses, ...toLiveStatuses(id, body)];
    }
    if (event === 'status' || event === 'step' || event === 'approval') live.changes++;
  }
  if (parts.length) live.parts = [...live.parts, ...parts];
  return { live, lines, requests };
}

/** Numbers of events start again at a multiple of it when the code runs again from the top. */
const EVENTS_PER_ATTEMPT = 1_000_000;

const getAttempt = (id: string): number => Math.floor(Number(id) / EVENTS_PER_ATTEMPT);

function toLiveStatuses(id: string, body: Body): LiveStatus[] {
  const at = parseTime(body.at);
  if (at === null || typeof body.status !== 'string') return [];
  const waiting = body.waiting_for as { kind?: string } | null | undefined;
  return [{ attempt: getAttempt(id), status: body.status, at, waitsFor: waiting?.kind ?? null }];
}

/** Streams are alike on all surfaces and say `content_type`; lists of this surface say `contentType`. */
const toLiveArtifact = (id: string, { artifact_id, content_type, at, ...body }: Body) =>
  ({
    ...body,
    id: artifact_id,
    contentType: content_type,
    attempt: getAttempt(id),
    at: parseTime(at),
  }) as LiveArtifact;

/** Adds an artifact; a later attempt replaces files of the same name. */
const addArtifact = (all: LiveArtifact[], artifact: LiveArtifact): LiveArtifact[] => [
  ...all.filter(({ name, attempt }) => name !== artifact.name || attempt === artifact.attempt),
  artifact,
];

function parseProgress(body: Body): LiveRun['progress'] {
  const fraction = Number(body.fraction);
  if (!Number.isFinite(fraction)) return null;
  return {
    fraction: Math.min(1, Math.max(0, fraction)),
    message: typeof body.message === 'string' ? body.message : null,
  };
}
