/**
 * Every event that crosses services: `<noun>.<past-tense>.v<N>`, published from an outbox, consumed idempotently.
 * A change that an old consumer cannot read is a new version alongside the old one.
 *
 * This table also defines the publishers and consumers of each event. NATS permissions, JetStream consumers and the
 * tests of both are derived from it: no other service can forge or read an event.
 */
import { z } from 'zod';
import { runErrorCodes, runSources } from './run-protocol';

export const services = ['worker-api', 'automation-api', 'skills-api'] as const;
export type Service = (typeof services)[number];

interface EventParties {
  publishers: readonly Service[];
  /** Each service receives every event once across its replicas, including events published while it was down. */
  consumers?: readonly Service[];
  /** Every replica receives events published while it is connected. */
  watchers?: readonly Service[];
}

export interface EventType<T extends z.ZodType = z.ZodType> extends Required<EventParties> {
  type: string;
  data: T;
}

const defineEvent = <T extends z.ZodType>(type: string, parties: EventParties, data: T): EventType<T> => ({
  type,
  consumers: [],
  watchers: [],
  ...parties,
  data,
});

/** Subject of an event: the server lets a service publish only under its own name. */
export const buildEventSubject = ({ type }: Pick<EventType, 'type'>, publisher: Service): string =>
  `events.${publisher}.${type}`;

/** Subject pattern of an event, for any publisher. */
export const buildEventSubjectPattern = ({ type }: Pick<EventType, 'type'>): string => `events.*.${type}`;

/** A run of either surface has reached its terminal state. */
export const runFinished = defineEvent(
  'run.finished.v1',
  { publishers: ['worker-api', 'automation-api'], consumers: ['worker-api', 'skills-api'] },
  z.object({
    runId: z.string(),
    source: z.enum(runSources),
    /** The automation or worker. */
    subjectId: z.string(),
    /** The public name, if different from the id: a worker's slug. */
    subjectRef: z.string().nullable().optional(),
    trigger: z.string().optional(),
    status: z.enum(['completed', 'failed', 'cancelled', 'timed_out', 'rejected']),
    errorCode: z.enum(runErrorCodes).nullable(),
    errorMessage: z.string().nullable().optional(),
    costUsd: z.number().optional(),
    /** Processor time of all attempts; null where nothing ran. */
    cpuMs: z.number().nullable().optional(),
    /** Length of the chain of events and calls that led to this run: bounds cycles. */
    depth: z.int().optional(),
    durationMs: z.int().nullable(),
    finishedAt: z.int(),
    /** Slugs of the skills used by the run. */
    skills: z.array(z.string().max(64)).max(100).optional(),
  }),
);

/**
 * A run without effects outside has reached its terminal state: announced to no other service, and to no trigger or
 * alert.
 */
export const rehearsalFinished = defineEvent(
  'rehearsal.finished.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  z.object({
    runId: z.string(),
    /** The worker. */
    subjectId: z.string(),
    status: runFinished.data.shape.status,
  }),
);

const worker = z.object({ workerUid: z.string(), workerId: z.string() });

/** A worker was created, edited, moved between states or deleted. */
export const workerChanged = defineEvent(
  'worker.changed.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  worker.extend({
    change: z.enum(['created', 'updated', 'paused', 'resumed', 'archived', 'restored', 'deleted']),
    /** The new version. Absent: the version is unchanged. */
    version: z.int().optional(),
    /**
     * Whether the worker had its versions evaluated when it was changed. Absent: the event is of an earlier release.
     */
    evaluateOnSave: z.boolean().optional(),
  }),
);

/**
 * The published skill that the agent's text copies, from this version of the worker on; null: none, also once the
 * worker is deleted. The event carries a state, so it may be delivered twice and out of order.
 */
export const workerSkillPinned = defineEvent(
  'worker.skill_pinned.v1',
  { publishers: ['worker-api'], consumers: ['skills-api'] },
  z.object({
    workerUid: z.string(),
    /** Grows with every event of the worker. */
    revision: z.int(),
    /** `contentHash`: SHA-256 of the text, hex. */
    skill: z.object({ slug: z.string().max(128), contentHash: z.string().length(64) }).nullable(),
  }),
);

/** A run waits for an approval. */
export const approvalRequested = defineEvent(
  'approval.requested.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  worker.extend({ approvalId: z.string(), runId: z.string(), title: z.string(), expiresAt: z.int() }),
);

export const approvalDecided = defineEvent(
  'approval.decided.v1',
  { publishers: ['worker-api'] },
  worker.extend({
    approvalId: z.string(),
    runId: z.string(),
    status: z.enum(['approved', 'rejected', 'expired']),
    decidedBy: z.string().nullable(),
  }),
);

/** Fires of a cron trigger were missed: no run started in time. */
export const scheduleMissed = defineEvent(
  'schedule.missed.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  worker.extend({ missed: z.int(), since: z.int(), startedLate: z.int() }),
);

/** A connection of a workspace stopped working and needs attention. */
export const connectionFailed = defineEvent(
  'connection.failed.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  z.object({
    connectionId: z.string(),
    /** The name that workers declare. */
    app: z.string(),
    label: z.string(),
    status: z.enum(['active', 'pending', 'expired', 'error']),
    /** A readable message; the provider's own message is quoted. */
    problem: z.string(),
  }),
);

/** A network rule refused a request of a run: published once per run. */
export const networkRefused = defineEvent(
  'network.refused.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  worker.extend({
    runId: z.string(),
    host: z.string(),
    port: z.int(),
    /** The rule, as a clause about the host. */
    reason: z.string(),
  }),
);

/** An evaluation of a version ended with failing examples, or could not be run. */
export const evaluationFailed = defineEvent(
  'evaluation.failed.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  worker.extend({
    evaluationId: z.string(),
    version: z.int(),
    sha: z.string(),
    passed: z.int(),
    failed: z.int(),
    /** Examples that could not be run or scored. */
    errors: z.int(),
    total: z.int(),
    /** The reason, where none could be run. */
    error: z.string().nullable(),
  }),
);

/** An alert's condition was met; delivery is separate. */
export const alertRaised = defineEvent(
  'alert.raised.v1',
  { publishers: ['worker-api'], consumers: ['worker-api'] },
  z.object({
    alertId: z.string(),
    /** Event name, such as `run.failed`. */
    type: z.string(),
    runId: z.string().nullable(),
    /** The worker's slug, or the automation's id. */
    subjectId: z.string().nullable(),
    depth: z.int().optional(),
  }),
);

export const automationDeployed = defineEvent(
  'automation.deployed.v1',
  { publishers: ['automation-api'] },
  z.object({ automationId: z.string(), version: z.int(), artifactId: z.string() }),
);

/** Earlier releases do not send these fields. */
const skillDetails = z.object({
  ownerId: z.string(),
  /** SHA-256 of the text, hex. */
  contentHash: z.string(),
  /** Grows with every change, also of the visibility, and when it is deleted or restored. */
  revision: z.int(),
});

const skill = z.object({
  skillId: z.string(),
  slug: z.string(),
  version: z.int(),
  visibility: z.enum(['private', 'unlisted', 'public']),
  ...skillDetails.partial().shape,
});

const skillEventParties = { publishers: ['skills-api'], consumers: ['worker-api'] } as const;

/** A skill was created. */
export const skillPublished = defineEvent('skill.published.v1', skillEventParties, skill);

/** Its text, visibility or sharing changed, or it was restored. */
export const skillChanged = defineEvent('skill.changed.v1', skillEventParties, skill);

/** The skill is no longer readable; its owner may restore it for thirty days. Other fields are unchanged. */
export const skillDeleted = defineEvent(
  'skill.deleted.v1',
  skillEventParties,
  skill.partial({ version: true, visibility: true }),
);

export const tokenRevoked = defineEvent(
  'auth.token.revoked.v1',
  { publishers: ['worker-api', 'skills-api'], watchers: services },
  z.object({ tokenId: z.string() }),
);

/** A membership began, ended, or changed its role: cached identities of this user are stale. */
export const memberChanged = defineEvent(
  'member.changed.v1',
  { publishers: ['worker-api'], watchers: services },
  z.object({ userId: z.string() }),
);

const workspace = z.object({ workspaceId: z.string() });

/**
 * No member can access the workspace or run anything in it; it can be restored until `purgeAt` (epoch milliseconds).
 */
export const workspaceDeleted = defineEvent(
  'workspace.deleted.v1',
  { publishers: ['worker-api'], consumers: ['automation-api', 'skills-api'], watchers: services },
  workspace.extend({ purgeAt: z.int() }),
);

/** The deletion with that `purgeAt` is undone, as if it had never happened. */
export const workspaceRestored = defineEvent(
  'workspace.restored.v1',
  { publishers: ['worker-api'], consumers: ['automation-api', 'skills-api'], watchers: services },
  workspace.extend({ purgeAt: z.int() }),
);

/** Deleted for good: every service deletes all its data of the workspace. */
export const workspacePurged = defineEvent(
  'workspace.purged.v1',
  { publishers: ['worker-api'], consumers: services },
  workspace,
);

const days = z.int().nullable();

/** The retention of a workspace's runs changed; null: the operator's default. */
export const retentionChanged = defineEvent(
  'workspace.retention_changed.v1',
  { publishers: ['worker-api'], consumers: ['automation-api'] },
  workspace.extend({ runDays: days, logDays: days, runsKept: days, changedAt: z.int() }),
);

/** An entry for the audit log, which worker-api keeps for all services: enqueued in the transaction of the change. */
export const auditRecorded = defineEvent(
  'audit.recorded.v1',
  { publishers: services, consumers: ['worker-api'] },
  z.object({
    source: z.string().max(64),
    actor: z.object({
      /** Kind of credential, or `system`. */
      kind: z.string().max(64),
      /** The user. */
      id: z.string().nullable(),
      label: z.string().max(320).nullable(),
      tokenId: z.string().nullable(),
    }),
    /** `<noun>.<past tense>`. */
    action: z.string().max(64),
    resource: z.object({ type: z.string().max(64), id: z.string().max(200).nullable() }),
    /** Never a secret. */
    details: z.record(z.string(), z.unknown()),
    address: z.string().max(64).nullable(),
    userAgent: z.string().max(255).nullable(),
    requestId: z.string().max(128).nullable(),
    /** Epoch milliseconds. */
    at: z.int(),
  }),
);

export const eventCatalogue: EventType[] = [
  runFinished,
  rehearsalFinished,
  workerChanged,
  workerSkillPinned,
  approvalRequested,
  approvalDecided,
  scheduleMissed,
  connectionFailed,
  networkRefused,
  evaluationFailed,
  alertRaised,
  automationDeployed,
  skillPublished,
  skillChanged,
  skillDeleted,
  tokenRevoked,
  memberChanged,
  workspaceDeleted,
  workspaceRestored,
  workspacePurged,
  retentionChanged,
  auditRecorded,
];
