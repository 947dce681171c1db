/**
 * Defines a run as its service stores it. The columns are those of `runs`; both services that run code have the same
 * table, and only this package writes and changes it (`migrations/`, and before those the services' first).
 */
import type { JobAgent, RecordedStep, RunError, RunLimits, SandboxInfo } from '@gantry/events';
import type { HeldKey } from '@gantry/limits';

/** No executor holds such a run; it can be ended directly. */
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

/** The run was not created, without side effects: its subject has changed. */
export class SubjectChangedError extends Error {}

export type RunKind = 'run' | 'test';

/** A version of code: of a worker by its sha, or an artifact, whose version is empty. */
export interface CodeVersionRef {
  id: string;
  version: string;
}

/** An executor's instructions; fixed at creation, so that a later deploy cannot change a queued run. */
export interface RunSpec {
  /** Starts its code; only executors with it get the run. */
  runner: string;
  code: { digest: string; key: string; size: number };
  entrypoint: string;
  dependencies: string[];
  /** Names the code whose packages are locked. Absent: they are resolved for each set, as for a draft. */
  lockedCode?: CodeVersionRef;
  outputs: { name: string; type: string }[];
  /** Names only; the values are loaded when the run is handed out. */
  secrets: string[];
  /** Connections that the code declares. Absent: none. */
  connections?: string[];
  /** Secrets and connections whose values the code itself gets. Absent: none. */
  expose?: string[];
  /** Those whose placeholders are replaced in the bodies of requests, too. Absent: none. */
  inBody?: string[];
  /** Absent: the entrypoint is code. */
  agent?: JobAgent;
  /** Slugs of published skills that it uses, for their counts. Absent: none. */
  skills?: string[];
  /** Budget for its model calls in US dollars. Absent: limited only by other budgets. */
  modelBudgetUsd?: number;
  /** Inputs of type `file`, with the keys of their objects. */
  files: { input: string; name: string; key: string; size: number }[];
  limits: RunLimits;
  network: 'egress' | 'none';
  /** The only reachable hosts; see hostPattern. Absent: every public address. */
  allowedHosts?: string[];
  isolation: 'zygote' | 'process';
  /** No warm sandbox: the code is imported for each run. Absent: a warm one if possible. */
  fresh?: true;
  /** File packs that the run finds under contexts/<name>/. Absent: none. */
  contexts?: { name: string; digest: string; key: string; size: number; writeable: boolean }[];
  /** Whether the code may request approvals, or call workers. Absent: neither. */
  may?: ('approve' | 'call')[];
  /**
   * The only workers, by id, that it may call or offer to a model: the scope of the token that started it or wrote its
   * code. Absent: any.
   */
  onlyWorkers?: string[];
  /** Absent: not a rehearsal. */
  rehearsal?: Rehearsal;
}

/** Trigger of runs without external effects. Their end is published as `rehearsal.finished`. */
export const REHEARSAL = 'rehearsal';

export interface Rehearsal {
  /** The run whose records are replayed; null: nothing was recorded. */
  of: string | null;
  /**
   * Its code was written by a model and is unreviewed: it gets no value of a secret or connection, and none of its
   * requests and calls of tools is made.
   */
  isUnread?: true;
}

/** When a failed or timed out run is tried again. The wait before the n-th retry is backoffMs * factor^(n - 1). */
export interface RetryPolicy {
  /** Maximum number of retries: 3 means up to four tries. 0: never. */
  max: number;
  backoffMs: number;
  /** 1: always the same wait. */
  factor: number;
  backoffMsMax: number;
}

/**
 * The condition that a run without a process waits for. Large parts of the request (data, inputs) are not stored here.
 */
export type WaitState =
  /** In a rehearsal, a step of any kind that waits. */
  | { kind: 'sleep'; step: StepIdentity }
  | { kind: 'approve'; step: StepIdentity; title: string }
  | { kind: 'call'; step: StepIdentity; workerId: string; runId: string }
  | { kind: 'retry'; error: RunError | null };

type StepIdentity = Omit<RecordedStep, 'result'>;

export interface NewRun {
  workspaceId: string;
  /** The automation or worker; for a test without an automation, the artifact. */
  subjectId: string;
  /** Public name of the subject, if it differs from the id: a worker's slug. */
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
  /** The run that called this one, or that it replays. */
  parentRunId?: string;
  /** The number of runs that led to this one by events and calls. Default 0. */
  depth?: number;
  /** At most `limit` runs with this key run at once, over all replicas. */
  slot?: { key: string; limit: number };
  /** Absent: an ending is final, and a run whose executor was lost after its start is not run again. */
  retry?: RetryPolicy;
  /** It starts as pending_approval, and is handed out only after resumeInTransaction. */
  held?: true;
  /**
   * The caller remembers its subject from an earlier run: SubjectChangedError is thrown where `isCurrent` does not hold
   * any more.
   */
  onlyIfCurrent?: true;
  /** Schedules: the fire time. Unique by subject, so that one fire creates one run. */
  scheduledFor?: Date;
  /** Key of the request: marked by the statement that inserts the run. Never with `scheduledFor`. */
  idempotencyKey?: HeldKey;
  requestId?: string;
  traceparent?: string;
}

/** Fields of both lists and details. */
export interface RunSummary {
  id: string;
  workspaceId: string;
  subjectId: string;
  subjectRef: string | null;
  parentRunId: string | null;
  trigger: string;
  version: number | null;
  status: RunStatus;
  priority: number;
  /** 1 + the retries so far: the attempt shown to code and users. */
  tries: number;
  /** Suspended runs: time of the automatic resume; null without one. */
  wakeAt: Date | null;
  /** The condition that it waits for; null unless it is suspended, or pending_approval in the middle. */
  suspension: WaitState | null;
  error: RunError | null;
  /** Total cost of all attempts, like cpuMs; maxRssBytes is their maximum. */
  costUsd: number;
  createdBy: string | null;
  cancelRequestedAt: Date | null;
  createdAt: Date;
  /** Time of the first hand-out. */
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** A run's place in the order of creation. */
export type RunCursor = Pick<RunSummary, 'createdAt' | 'id'>;

export interface Run extends RunSummary {
  depth: number;
  kind: RunKind;
  /** Number of times it was handed out. */
  attempt: number;
  /** Remaining retries. */
  retriesLeft: number;
  /** Key of `slot`; null: no limit. */
  slotKey: string | null;
  inputs: Record<string, unknown>;
  spec: RunSpec;
  /** The return value; null until completed. */
  output: unknown;
  /** Object key of a return value that is too large for the row. */
  outputKey: string | null;
  cpuMs: number | null;
  maxRssBytes: number | null;
  /** Sandbox of the last attempt; null if not reported. */
  sandbox: SandboxInfo | null;
  /** NATS user of the executor that holds it, or held it last. */
  executorId: string | null;
  requestId: string | null;
  traceparent: string | null;
}
