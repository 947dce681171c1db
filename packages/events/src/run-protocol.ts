/**
 * What services and executors say to each other about runs.
 *
 * Glossary
 *   source    the service that owns a run: `automation` or `worker`; part of every subject
 *   executor  known by the name of its NATS user. The server lets it publish subjects with its own name only, so services
 *             take the name from the subject and from nowhere else
 *   token     what a service gives with a job, and wants back with all that is reported on it: who was not handed that
 *             attempt does not have it
 *   claim     an executor's request for one run; a service may hold it unanswered (a standing claim) until there is work
 *   job       one attempt at one run, as handed to an executor
 *   runner    the part of an executor that starts code of one kind; a claim names those that its executor has
 *   lease     until when an executor may work on a job; renewed in batches, swept by the service when it runs out
 *   attempt   1, 2, ...: grows each time a run is handed out, so that a late message of an earlier attempt is recognised
 *   try       1, 2, ...: grows with each retry after a failure; what people call an attempt
 *   step      something that a run has done for good: recorded before its code sees the result, answered from the record
 *             when the code runs again; known by its place among the run's steps, its kind and its name
 *   suspended a run that waits (for time, a person, another run) without a process; its code runs again from the top
 *   seq       number of an event within its attempt: 1, 2, ... without gaps
 *
 * No message is larger than MESSAGE_BYTES_MAX: what may be larger travels by object store, as a presigned URL.
 */
import { z } from 'zod';

/** Half of NATS' own default limit (1 MiB) would do; this bounds the memory that a slow consumer can hold. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Inputs, outputs and error texts up to this many bytes of JSON travel inside a message. */
export const INLINE_BYTES_MAX = 128 * 1024;

export const LEASE_MS = 15_000;
export const LEASE_RENEW_MS = 4_000;
/** A service answers a standing claim with "nothing" after this long; the executor then asks again. */
export const CLAIM_HOLD_MS = 5_000;

export const runSources = ['automation', 'worker'] as const;
export type RunSource = (typeof runSources)[number];

/** Any name, and not a list of known ones: an executor may have a runner that a service of an earlier release never heard of. */
const runner = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
/** The one that services ask for. Also meant by messages and rows from before there were names. */
export const PYTHON = 'python';

/** `executorId` and `runId` may be `*`, for those who may hear all. */
export const runSubjects = {
  /** Request/reply, queue group of the service's replicas: ClaimRequest -> a sealed job, see sealed-job.ts. */
  claim: (source: RunSource, executorId: string) => `executor.claim.${source}.${executorId}`,
  /** Executor -> all replicas: a standing claim is no longer wanted. ClaimWithdrawal. */
  withdraw: (source: RunSource, executorId: string) => `executor.withdraw.${source}.${executorId}`,
  /** Request/reply, queue group: LeaseRenewal -> LeaseReply. */
  lease: (source: RunSource, executorId: string) => `run.lease.${source}.${executorId}`,
  /** Request/reply, queue group: ArtifactRequest -> ArtifactReply. */
  artifact: (source: RunSource, executorId: string) => `run.artifact.${source}.${executorId}`,
  /** Request/reply, queue group: StepRecord -> StepReply. */
  step: (source: RunSource, executorId: string) => `run.step.${source}.${executorId}`,
  /** JetStream, see streams.ts: read with decodeRunEvents. */
  events: (source: RunSource, executorId: string, runId: string) => `run.events.${source}.${executorId}.${runId}`,
  /** Replica -> replicas of the same service: there is queued work. The name of its runner as text, or empty: of any. */
  hint: (source: RunSource) => `run.hint.${source}`,
  /** Replica -> replicas of the same service: look at this run again, it has ended, begun to wait or goes on. RunSettled. */
  settled: (source: RunSource, runId: string) => `run.settled.${source}.${runId}`,
  /** Service -> the executor that holds the run: stop it. RunCancel. Lost messages are made good by the next lease reply. */
  cancel: (executorId: string, runId: string) => `run.cancel.${executorId}.${runId}`,
  /** Executor -> whoever cares: ExecutorStatus, every few seconds and when it changes. */
  executorStatus: (executorId: string) => `executor.status.${executorId}`,
  /** Request/reply, queue group of the executors: InspectRequest -> InspectReply. */
  inspect: 'executor.inspect',
} as const;

/** The executor that published a claim, a withdrawal, a renewal, a request for an artifact or step, or its status. */
export const executorOf = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);

const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** 32 bytes. */
const publicKey = z.string().regex(/^[A-Za-z0-9+/]{43}=$/);

export const runLimits = z.object({
  wallMs: z.int().min(1).max(3_600_000),
  cpuSeconds: z.int().min(1).max(3_600),
  memoryBytes: z.int().min(32 << 20),
  processes: z.int().min(1).max(256),
  /** Size of the run's writable file system. */
  tmpBytes: z.int().min(1 << 20),
  /** Largest JSON of the return value. */
  outputBytes: z.int().min(1),
  /** stdout, stderr and context.log() together; what comes after is dropped and said to be. */
  logBytes: z.int().min(1),
  /** One artifact; all artifacts of a run together may take four times as much. */
  artifactBytes: z.int().min(1),
});
export type RunLimits = z.infer<typeof runLimits>;

export const stepKinds = ['step', 'sleep', 'approve', 'call'] as const;
export type StepKind = (typeof stepKinds)[number];

/** A step's place among the run's steps (1, 2, ... in the order the code first asked for them), its kind and its name. */
const stepIdentity = { ordinal: z.int().min(1).max(1_000), kind: z.enum(stepKinds), name: z.string().min(1).max(200) };
export const recordedStep = z.object({ ...stepIdentity, result: z.unknown() });
export type RecordedStep = z.infer<typeof recordedStep>;

/** The values of all secrets of one run together: masking prepares for every form of each of them. */
export const SECRETS_BYTES_MAX = 64 * 1024;
export const secretsBytes = (values: Record<string, string>): number =>
  Object.values(values).reduce((sum, value) => sum + Buffer.byteLength(value), 0);

/** Files that a run finds under contexts/<name>/. */
export const jobContext = z.object({
  name: z.string(),
  digest,
  url: z.string(),
  size: z.int(),
  /** Changed files are reported when the run has completed: see `context` events. */
  writeable: z.boolean(),
});
export type JobContext = z.infer<typeof jobContext>;

export const job = z.object({
  runId: z.string(),
  source: z.enum(runSources),
  attempt: z.int().min(1),
  token: z.string(),
  /** What the code is told as its attempt. Absent: 1. */
  tryNumber: z.int().min(1).optional(),
  workspaceId: z.string(),
  /** A test has no network, whatever `network` says. */
  kind: z.enum(['run', 'test']),
  runner: runner.default(PYTHON),
  code: z.object({ digest, url: z.string(), size: z.int() }),
  /** Path of the file that defines run(), relative to the root of the code. */
  entrypoint: z.string(),
  dependencies: z.array(z.string()),
  /** The return value is checked to be an object with these names where the manifest declares outputs. */
  outputs: z.array(z.object({ name: z.string(), type: z.string() })).optional(),
  /** Exactly one of the two. */
  inputs: z.record(z.string(), z.unknown()).optional(),
  inputsUrl: z.string().optional(),
  /** Files that the executor fetches and places under /tmp/inputs; the input's value becomes that path. */
  files: z.array(z.object({ input: z.string(), name: z.string(), url: z.string(), size: z.int() })),
  /** Values by name. */
  secrets: z.record(z.string(), z.string()).optional(),
  /** What earlier attempts have recorded, by ordinal: at most one of the two. */
  steps: z.array(recordedStep).optional(),
  stepsUrl: z.string().optional(),
  contexts: z.array(jobContext).optional(),
  /** Whether the code may ask a person, or run another worker: only workers have those. Absent: neither. */
  may: z.array(z.enum(['approve', 'call'])).optional(),
  limits: runLimits,
  network: z.enum(['egress', 'none']),
  isolation: z.enum(['zygote', 'process']),
  requestId: z.string().optional(),
  traceparent: z.string().optional(),
});
export type Job = z.infer<typeof job>;

export const claimRequest = z.object({
  claimId: z.string(),
  /** X25519 public key (raw, base64) that the job is sealed to. */
  publicKey,
  /** Those that the executor has: it is given no other run. */
  runners: z.array(runner).min(1).max(16).default([PYTHON]),
});
export type ClaimRequest = z.infer<typeof claimRequest>;
export const claimWithdrawal = z.object({ claimId: z.string() });

export const leaseRenewal = z.object({
  runs: z.array(z.object({ runId: z.string(), attempt: z.int(), token: z.string() })).max(1_000),
});
export type LeaseRenewal = z.infer<typeof leaseRenewal>;
export const leaseReply = z.object({
  /** Somebody asked for these to stop. */
  cancelled: z.array(z.string()),
  /** These are no longer this executor's: it stops them and reports nothing. */
  lost: z.array(z.string()),
});
export type LeaseReply = z.infer<typeof leaseReply>;

/** Results of steps are at most this large as JSON; larger things belong into artifacts. */
export const STEP_BYTES_MAX = 64 * 1024;

/** Recorded before the code sees the result. Again with the same ordinal, kind and name: the first record stands. */
export const stepRecord = z.object({
  runId: z.string(),
  attempt: z.int(),
  token: z.string(),
  ...stepIdentity,
  result: z.unknown(),
  startedAt: z.int(),
});
export type StepRecord = z.infer<typeof stepRecord>;
/** `result` is what counts, also if another attempt recorded it first. */
export const stepReply = z.union([z.object({ result: z.unknown() }), z.object({ refused: z.string() })]);
export type StepReply = z.infer<typeof stepReply>;

const step = z.object(stepIdentity);
/** Why a run ends its process without ending. The step is recorded as pending. */
export const suspension = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sleep'), step, wakeAt: z.int().describe('epoch milliseconds') }),
  z.object({
    kind: z.literal('approve'),
    step,
    title: z.string().min(1).max(200),
    message: z.string().max(10_000).nullable(),
    data: z.unknown(),
    /** Items like inputs; whoever receives them checks them. */
    form: z.array(z.unknown()).max(50).nullable(),
    expiresInSeconds: z.number().positive().nullable(),
  }),
  z.object({
    kind: z.literal('call'),
    step,
    workerId: z.string().max(64),
    inputs: z.record(z.string(), z.unknown()),
  }),
]);
export type Suspension = z.infer<typeof suspension>;

export const artifactRequest = z.object({
  runId: z.string(),
  attempt: z.int(),
  token: z.string(),
  /** `output`: the return value of a run, when it is too large for a message. `context`: a changed context as a zip. */
  purpose: z.enum(['artifact', 'output', 'context']),
  name: z.string().max(255),
  contentType: z.string().max(255),
  size: z.int().min(0),
});
export type ArtifactRequest = z.infer<typeof artifactRequest>;
export const artifactReply = z.union([
  z.object({ key: z.string(), url: z.string() }),
  z.object({ refused: z.string() }),
]);
export type ArtifactReply = z.infer<typeof artifactReply>;

export const runErrorCodes = [
  'exception',
  'timeout',
  'out_of_memory',
  'output_too_large',
  'dependency_install',
  'executor_lost',
  'missing_secret',
  'approval_rejected',
  'budget_exceeded',
  'invalid_inputs',
  'cancelled',
  'sandbox',
] as const;
export type RunErrorCode = (typeof runErrorCodes)[number];

export const runError = z.object({
  code: z.enum(runErrorCodes),
  message: z.string(),
  /** Class name of the Python exception. */
  type: z.string().optional(),
  /** Frames of the user's files only. */
  trace: z.string().optional(),
});
export type RunError = z.infer<typeof runError>;

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;

const base = { seq: z.int().min(1), at: z.int().describe('epoch milliseconds') };
export const runEvent = z.discriminatedUnion('type', [
  z.object({ ...base, type: z.literal('started') }),
  z.object({
    ...base,
    type: z.literal('log'),
    stream: z.enum(['stdout', 'stderr', 'context', 'platform']),
    level: z.enum(logLevels),
    /** One line without its line end, masked. */
    text: z.string(),
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({
    ...base,
    type: z.literal('progress'),
    fraction: z.number().min(0).max(1),
    message: z.string().nullable(),
  }),
  z.object({
    ...base,
    type: z.literal('artifact'),
    artifactId: z.string(),
    name: z.string(),
    contentType: z.string(),
    size: z.int(),
    sha256: digest,
    key: z.string(),
  }),
  /** For those who watch: the record itself is made by a StepRecord or by the suspension. */
  z.object({ ...base, type: z.literal('step'), ...stepIdentity, durationMs: z.int().min(0) }),
  /** A writeable context that the code changed, whole. Counts only if the run completes. */
  z.object({
    ...base,
    type: z.literal('context'),
    name: z.string(),
    /** Digest of what the run was given. */
    from: digest,
    size: z.int(),
    sha256: digest,
    key: z.string(),
  }),
  z.object({ ...base, type: z.literal('cost'), usd: z.number().min(0), label: z.string().nullable() }),
  z.object({
    ...base,
    type: z.literal('finished'),
    /** `returned`: not started here, back to the queue (the executor is draining). */
    status: z.enum(['completed', 'failed', 'timed_out', 'cancelled', 'returned', 'suspended']),
    /** Exactly when suspended. */
    suspension: suspension.optional(),
    /** The return value, masked: exactly one of the two when completed. */
    output: z.unknown().optional(),
    outputKey: z.string().optional(),
    error: runError.optional(),
    /** `costUsd`: the sum of what the run reported with context.cost(). */
    usage: z.object({
      wallMs: z.number(),
      cpuMs: z.number(),
      maxRssBytes: z.int(),
      costUsd: z.number().min(0).default(0),
    }),
  }),
]);
export type RunEvent = z.infer<typeof runEvent>;

/** The payload of `run.events`; whose events they are is in the subject. */
export const runEventBatch = z.object({
  attempt: z.int().min(1),
  token: z.string(),
  events: z.array(runEvent).min(1),
});
export interface RunEventBatch extends z.infer<typeof runEventBatch> {
  executorId: string;
  runId: string;
}

/** @throws SyntaxError or ZodError for anything that is not a batch of events. */
export function decodeRunEvents({ subject, data }: { subject: string; data: Uint8Array }): RunEventBatch {
  const [, , , executorId = '', runId = ''] = subject.split('.');
  return { ...runEventBatch.parse(JSON.parse(Buffer.from(data).toString())), executorId, runId };
}

export const runCancel = z.object({ token: z.string() });
export type RunCancel = z.infer<typeof runCancel>;

export const inspectRequest = z.object({
  code: z.object({ digest, url: z.string(), size: z.int() }),
  entrypoint: z.string(),
});
export type InspectRequest = z.infer<typeof inspectRequest>;
/** What `ast.parse` says of the entrypoint; nothing of it was executed. */
export const inspectReply = z.object({
  ok: z.boolean(),
  /** Why not: a syntax error with its line, no run(), or that the code could not be fetched or unpacked. */
  problem: z
    .object({ code: z.enum(['syntax_error', 'no_run', 'unreadable', 'unavailable']), message: z.string() })
    .optional(),
  /** Parameter names of run(), in order. */
  parameters: z.array(z.string()).optional(),
  /** Top-level packages that it imports, and that are neither Python's own nor part of the code. */
  imports: z.array(z.string()).optional(),
  /** Environment variables and secrets that it can't do without. */
  secrets: z.array(z.string()).optional(),
});
export type InspectReply = z.infer<typeof inspectReply>;

export const executorStatus = z.object({
  state: z.enum(['ready', 'draining', 'stopped']),
  slots: z.int(),
  busy: z.int(),
  isolation: z.enum(['zygote', 'process']),
  python: z.string(),
  startedAt: z.int(),
});
export type ExecutorStatus = z.infer<typeof executorStatus>;
