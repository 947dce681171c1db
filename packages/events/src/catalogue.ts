/**
 * Every event that crosses services: `<noun>.<past-tense>.v<N>`, published from an outbox, consumed idempotently.
 * A change that an old consumer can't read is a new version beside the old one.
 */
import { z } from 'zod';
import { runErrorCodes, runSources } from './run-protocol';

export interface EventType<T extends z.ZodType = z.ZodType> {
  subject: string;
  data: T;
}

const define = <T extends z.ZodType>(subject: string, data: T): EventType<T> => ({ subject, data });

/** A run of either surface has reached its terminal state. */
export const runFinished = define(
  'run.finished.v1',
  z.object({
    runId: z.string(),
    source: z.enum(runSources),
    /** The automation or worker. */
    subjectId: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'timed_out']),
    errorCode: z.enum(runErrorCodes).nullable(),
    durationMs: z.int().nullable(),
    finishedAt: z.int(),
  }),
);

export const automationDeployed = define(
  'automation.deployed.v1',
  z.object({ automationId: z.string(), version: z.int(), artifactId: z.string() }),
);

export const tokenRevoked = define('auth.token.revoked.v1', z.object({ tokenId: z.string() }));

/** A membership began, ended, or changed its role: cached answers about this user are stale. */
export const memberChanged = define('member.changed.v1', z.object({ userId: z.string() }));

export const eventCatalogue: EventType[] = [runFinished, automationDeployed, tokenRevoked, memberChanged];

export const EVENTS_STREAM = 'EVENTS';
