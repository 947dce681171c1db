/**
 * A run as its service keeps it. The columns are those of `runs`; both services that run code have the same table, and only
 * this package writes and changes it (`migrations/`, and before those the services' first).
 */
import type { JobAgent, RunError, RunLimits, StepKind, UsedSandbox } from '@gantry/events';
import type { HeldKey } from '@gantry/http';

/** No executor holds such a run; it ends without asking anybody. */
export const idleStatuses = ['queued', 'suspended', 'pending_approval'] as const;
export type IdleStatus = (typeof idleStatuses)[number];

export const terminalStatuses = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

export const runStatuses = [...idleStatuses, 'running', ...terminalStatuses] as const;
export type RunStatus = (typeof runStatuses)[number];

/** A status of this kind never changes again. */
export const isTerminal = (status: RunStatus): status is TerminalStatus =>
  (terminalStatuses as readonly RunStatus[]).includes(status);

export const isIdle = (status: RunStatus): status is IdleStatus =>
  (idleStatuses as readonly RunStatus[]).includes(status);

/** The run was not made, and nothing else has happened: its subject is not what its caller took it for. */
export class SubjectChanged extends Error {}

export type RunKind = 'run' | 'test';

/** What an executor must be told; fixed when the run is made, so that a later deploy can't change a queued run. */
export interface RunSpec {
  /** Starts its code; no executor without it is given the run. */
  runner: string;
  code: { digest: string; key: string; size: number };
  entrypoint: string;
  dependencies: string[];
  outputs: { name: string; type: string }[];
  /** Names only; the values are read when the run is handed out. */
  secrets: string[];
  /** Connections that the code declares. Absent: none. */
  connections?: string[];
  /** Secrets and connections whose values the code itself gets. Absent: none. */
  expose?: string[];
  /** Those whose placeholders are replaced in the bodies of requests, too. Absent: none. */
  inBody?: string[];
  /** Absent: the entrypoint is code. */
  agent?: JobAgent;
  /** Slugs of published skills that it is made of, for their counts. Absent: none. */
  skills?: string[];
  /** What the models that it asks may cost, in US dollars. Absent: as much as other budgets leave. */
  modelBudgetUsd?: number;
  /** Inputs of type `file`: where the uploaded bytes lie. */
  files: { input: string; name: string; key: string; size: number }[];
  limits: RunLimits;
  network: 'egress' | 'none';
  /** Hosts that are reached, and no others; see hostPattern. Absent: every public address. */
  allowedHosts?: string[];
  isolation: 'zygote' | 'process';
  /** No warm sandbox: the code is imported for each run. Absent: where it can be, it is warm. */
  fresh?: true;
  /** File packs that the run finds under contexts/<name>/. Absent: none. */
  contexts?: { name: string; digest: string; key: string; size: number; writeable: boolean }[];
  /** Whether the code may ask a person, or run another worker. Absent: neither. */
  may?: ('approve' | 'call')[];
  /** The only workers, by id, that it may call or offer to a model: those that the token that started it, or wrote its code, is for. Absent: any. */
  onlyWorkers?: string[];
  /** Absent: not a rehearsal. */
  rehearsal?: Rehearsal;
}

/** The trigger of runs that have no effect outside. Their end is announced as `rehearsal.finished`. */
export const REHEARSAL = 'rehearsal';

export interface Rehearsal {
  /** The run whose records answer its calls; null: nothing was recorded. */
  of: string | null;
  /**
   * Nobody has read its code, since a model wrote it: it gets no value of a secret, and reaches no host but those that `of` has
   * reached.
   */
  isUnread?: true;
}

/** When a failed or timed out run is tried again. The wait before the n-th retry is backoffMs * factor^(n - 1). */
export interface RetryPolicy {
  /** How often at most: 3 means up to four tries. 0: never. */
  max: number;
  backoffMs: number;
  /** 1: always the same wait. */
  factor: number;
  backoffMsMax: number;
}

/** What a run that holds no process waits for. Large parts of the request (data, inputs) are not kept here. */
export type Waiting =
  /** In a rehearsal, a step of any kind that waits. */
  | { kind: 'sleep'; step: StepIdentity }
  | { kind: 'approve'; step: StepIdentity; title: string }
  | { kind: 'call'; step: StepIdentity; workerId: string; runId: string }
  | { kind: 'retry'; error: RunError | null };

export interface StepIdentity {
  ordinal: number;
  kind: StepKind;
  name: string;
}

export interface NewRun {
  workspaceId: string;
  /** The automation or worker; for a test without an automation, the artifact. */
  subjectId: string;
  /** What people call the subject, where that is another name: a worker's slug. */
  subjectRef?: string;
  kind: RunKind;
  /** `api`, `page`, `schedule`, ...: what started it. */
  trigger: string;
  /** Version of the automation; null for tests. */
  version: number | null;
  inputs: Record<string, unknown>;
  spec: RunSpec;
  createdBy: string | null;
  /** Higher goes first within a workspace. Default 0. */
  priority?: number;
  /** The run that called this one, or that it repeats. */
  parentRunId?: string;
  /** How many runs led to this one by events and calls. Default 0. */
  depth?: number;
  /** At most `limit` runs with this key run at once, over all replicas. */
  slot?: { key: string; limit: number };
  /** Absent: an ending is final, and a run whose executor was lost after it began is not run again. */
  retry?: RetryPolicy;
  /** It starts as pending_approval, and is handed out only after resumeIn. */
  held?: true;
  /** The caller remembers its subject from an earlier run: SubjectChanged is thrown where `isCurrent` does not hold any more. */
  onlyIfCurrent?: true;
  /** Schedules: the fire time. Unique by subject, so that one fire makes one run whoever makes it. */
  scheduledFor?: Date;
  /** Of the request that asks for the run: marked with it by the statement that writes it. Never with `scheduledFor`. */
  idempotencyKey?: HeldKey;
  requestId?: string;
  traceparent?: string;
}

export interface Run {
  id: string;
  workspaceId: string;
  subjectId: string;
  subjectRef: string | null;
  parentRunId: string | null;
  depth: number;
  kind: RunKind;
  trigger: string;
  version: number | null;
  status: RunStatus;
  priority: number;
  /** How often it was handed out. */
  attempt: number;
  /** 1 + the retries so far: what its code and people call the attempt. */
  tries: number;
  /** How often it is tried again at most if it fails now. */
  retriesLeft: number;
  /** Suspended runs: when it goes on by itself; null where it waits for somebody. */
  wakeAt: Date | null;
  /** What it waits for; null unless it is suspended, or pending_approval in the middle. */
  suspension: Waiting | null;
  /** Of `slot`; null: no limit. */
  slotKey: string | null;
  inputs: Record<string, unknown>;
  spec: RunSpec;
  /** The return value; null until completed. */
  output: unknown;
  /** Where the return value lies when it is too large for a row. */
  outputKey: string | null;
  error: RunError | null;
  /** What it cost over all attempts, like cpuMs; maxRssBytes is the largest of them. */
  costUsd: number;
  cpuMs: number | null;
  maxRssBytes: number | null;
  /** Of the attempt that ended it; null where that did not say. */
  sandbox: UsedSandbox | null;
  createdBy: string | null;
  cancelRequestedAt: Date | null;
  /** Whose NATS user holds it, or held it last. */
  executorId: string | null;
  requestId: string | null;
  traceparent: string | null;
  createdAt: Date;
  /** When it was first handed out. */
  startedAt: Date | null;
  finishedAt: Date | null;
}
