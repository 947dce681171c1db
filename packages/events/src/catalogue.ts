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
    /** Slugs of the skills that it used. */
    skills: z.array(z.string().max(64)).max(100).optional(),
  }),
);

export const automationDeployed = define(
  'automation.deployed.v1',
  z.object({ automationId: z.string(), version: z.int(), artifactId: z.string() }),
);

const skill = z.object({
  skillId: z.string(),
  slug: z.string(),
  version: z.int(),
  visibility: z.enum(['private', 'unlisted', 'public']),
});

/** A skill exists from now on. */
export const skillPublished = define('skill.published.v1', skill);

/** Its text, its visibility or whom it is shared with is another, or it was restored. */
export const skillChanged = define('skill.changed.v1', skill);

/** Nobody can read it any longer; its owner may restore it for thirty days. */
export const skillDeleted = define('skill.deleted.v1', z.object({ skillId: z.string(), slug: z.string() }));

export const tokenRevoked = define('auth.token.revoked.v1', z.object({ tokenId: z.string() }));

/** A membership began, ended, or changed its role: cached answers about this user are stale. */
export const memberChanged = define('member.changed.v1', z.object({ userId: z.string() }));

export const eventCatalogue: EventType[] = [
  runFinished,
  automationDeployed,
  skillPublished,
  skillChanged,
  skillDeleted,
  tokenRevoked,
  memberChanged,
];

export const EVENTS_STREAM = 'EVENTS';
