/**
 * A run as its service keeps it. The columns are those of `runs` (see the service's first migration); both services
 * that run code have the same table, and only this package writes it.
 */
import type { RunError, RunLimits } from '@gantry/events';

export const runStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled', 'timed_out'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** A status of this kind never changes again. */
export const isTerminal = (status: RunStatus): boolean => status !== 'queued' && status !== 'running';

export type RunKind = 'run' | 'test';

/** What an executor must be told; fixed when the run is made, so that a later deploy can't change a queued run. */
export interface RunSpec {
  code: { digest: string; key: string; size: number };
  entrypoint: string;
  dependencies: string[];
  outputs: { name: string; type: string }[];
  /** Names only; the values are read when the run is handed out. */
  secrets: string[];
  /** Inputs of type `file`: where the uploaded bytes lie. */
  files: { input: string; name: string; key: string; size: number }[];
  limits: RunLimits;
  network: 'egress' | 'none';
  isolation: 'zygote' | 'process';
}

export interface NewRun {
  workspaceId: string;
  /** The automation or worker; for a test without an automation, the artifact. */
  subjectId: string;
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
  /** How often it is handed out again after a started attempt was lost. Default 0: at most once. */
  retriesMax?: number;
  /** Schedules: the fire time. Unique by subject, so that one fire makes one run whoever makes it. */
  scheduledFor?: Date;
  requestId?: string;
  traceparent?: string;
}

export interface Run {
  id: string;
  workspaceId: string;
  subjectId: string;
  kind: RunKind;
  trigger: string;
  version: number | null;
  status: RunStatus;
  attempt: number;
  inputs: Record<string, unknown>;
  spec: RunSpec;
  /** The return value; null until completed. */
  output: unknown;
  /** Where the return value lies when it is too large for a row. */
  outputKey: string | null;
  error: RunError | null;
  costUsd: number;
  cpuMs: number | null;
  maxRssBytes: number | null;
  createdBy: string | null;
  cancelRequestedAt: Date | null;
  requestId: string | null;
  traceparent: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}
