/**
 * Describes one type of trigger: how requests write it, how its row stores it, how the API and manifests show it. A new
 * type is a folder here with a TriggerType, an entry in trigger.ts, and a folder in `starters`, which starts
 * its runs; the enum `trigger_type` and the schema `Trigger` of OpenAPI name it too.
 */
import type { z } from 'zod';
import type { Prisma, Worker, WorkerTrigger } from '../generated/prisma/client';

export type TriggerColumns = Omit<Prisma.WorkerTriggerCreateManyInput, 'id' | 'workspaceId' | 'workerUid'>;

export interface RowContext {
  status: Worker['status'];
  /** The worker's row of this type that the new one replaces. */
  before: WorkerTrigger | undefined;
  now: Date;
}

export interface ResponseContext {
  workerId: string;
  baseUrl: string;
}

export interface TriggerType<Input extends { type: WorkerTrigger['type'] }> {
  /** Number of triggers of this type that a worker may have. */
  max: number;
  schema: z.ZodType;
  toColumns(input: Input, context: RowContext): TriggerColumns;
  /** Returns the trigger as a request would write it; for types that stay where a request gives a `schedule` alone. */
  toInput?(row: WorkerTrigger): Input;
  /** Never with a secret. */
  toApi(row: WorkerTrigger, context: ResponseContext): object;
  toManifest(row: WorkerTrigger): object;
}
