/**
 * The protocol between services and executors for runs.
 *
 * Glossary
 *   source    the service that owns a run: `automation` or `worker`; part of every subject
 *   executor  identified by the name of its NATS user. The server lets it publish only subjects with its own name, so
 *             services read the identity from the subject and from nowhere else
 *   token     issued by a service with a job and required on everything reported about it: only the executor that was
 *             handed that attempt has it
 *   claim     an executor's request for one run; a service may hold it open (a standing claim, or long poll) until a
 *             run is queued
 *   job       one attempt at one run, as handed to an executor
 *   runner    the part of an executor that starts code of one kind; a claim lists its executor's runners
 *   lease     how long an executor may work on a job; renewed in batches, swept by the service when it expires
 *   attempt   1, 2, ...: incremented each time a run is handed out, so that late messages of an earlier attempt are
 *             recognised
 *   try       1, 2, ...: incremented with each retry after a failure; shown to users as the attempt
 *   step      a durable operation of a run: recorded before its code sees the result, replayed from the record
 *             when the code runs again; identified by its position among the run's steps, its kind and its name
 *   tool call a step that a service carries out, by a connection of the workspace: see tool-protocol.ts
 *   suspended a run that waits (for a time, an approval, another run) without a process; its code runs again from the
 *             top
 *   seq       number of an event within its attempt: 1, 2, ... without gaps
 *
 * No message is larger than MESSAGE_BYTES_MAX: larger payloads travel by object store, as a presigned URL.
 */
import { z } from 'zod';
import { lockDigests } from './dependency-lock';
import { CREDENTIALS_MAX, hostPattern, jobCredential } from './job-credential';
import { jobAgent, jobTools, jsonObject, modelUsage, PENDING_CALLS_MAX, pendingCall } from './job-tools';
import { recordedResponse, replayableResponse } from './recorded-response';

/** A quarter of NATS' default limit (1 MiB); it bounds the memory that a slow consumer can hold. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Inputs, outputs and error texts up to this many bytes of JSON travel inside a message. */
export const INLINE_BYTES_MAX = 128 * 1024;

export const LEASE_MS = 15_000;
export const LEASE_RENEW_MS = 4_000;
/** A service answers a standing claim with an empty reply after this long at most; the executor then claims again. */
export const CLAIM_HOLD_MS = 5_000;
/** An earlier empty reply comes from a replica that is shutting down. */
export const CLAIM_HOLD_MS_MIN = 4_000;

export const runSources = ['automation', 'worker'] as const;
export type RunSource = (typeof runSources)[number];

/** Limit of requests that an executor reports, and a service stores, per attempt. */
export const REQUESTS_MAX = 10_000;

/** Any name rather than an enumeration: an executor may have a runner unknown to a service of an earlier release. */
const runner = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
/** The runner that services request. Also the meaning of messages and rows from before runners had names. */
export const PYTHON = 'python';

/** `executorId` and `runId` may be `*`, for subscribers to all. */
export const runSubjects = {
  /** Request/reply, queue group of the service's replicas: ClaimRequest -> a sealed job, see sealed-job.ts. */
  claim: (source: RunSource, executorId: string) => `executor.claim.${source}.${executorId}`,
  /** Executor -> all replicas: a standing claim is withdrawn: `claimWithdrawal`. */
  withdraw: (source: RunSource, executorId: string) => `executor.withdraw.${source}.${executorId}`,
  /** Request/reply, queue group: LeaseRenewal -> LeaseReply. */
  lease: (source: RunSource, executorId: string) => `run.lease.${source}.${executorId}`,
  /** Request/reply, queue group: ArtifactRequest -> ArtifactReply. */
  artifact: (source: RunSource, executorId: string) => `run.artifact.${source}.${executorId}`,
  /** Request/reply, queue group: RecordStepRequest -> StepReply. */
  step: (source: RunSource, executorId: string) => `run.step.${source}.${executorId}`,
  /** Request/reply, queue group: ToolCall -> ToolReply. Only worker-api has connections. */
  tool: (source: RunSource, executorId: string) => `run.tool.${source}.${executorId}`,
  /** Request/reply, queue group: LockRequest -> LockReply. */
  lock: (source: RunSource, executorId: string) => `run.lock.${source}.${executorId}`,
  /** Executor -> one replica: InstallationReport. */
  installation: (source: RunSource, executorId: string) => `executor.installation.${source}.${executorId}`,
  /** JetStream, see streams.ts: read with decodeRunEvents. */
  events: (source: RunSource, executorId: string, runId: string) => `run.events.${source}.${executorId}.${runId}`,
  /** Replica -> replicas of the same service: a run was queued. The name of its runner as text; empty means any. */
  hint: (source: RunSource) => `run.hint.${source}`,
  /** Replica -> replicas of the same service: read this run again, it has ended, been suspended or resumed. */
  settled: (source: RunSource, runId: string) => `run.settled.${source}.${runId}`,
  /** Service -> the executor that holds the run: stop it. CancelRequest. A lost one is repeated by the lease reply. */
  cancel: (executorId: string, runId: string) => `run.cancel.${executorId}.${runId}`,
  /**
   * Service -> the executor that holds the run: a model's text as it is generated. ToolTextChunk; the ToolReply has all
   * of it.
   */
  toolText: (executorId: string, runId: string) => `run.words.${executorId}.${runId}`,
  /** Executor -> any subscriber: ExecutorStatus, every few seconds and on change. */
  executorStatus: (executorId: string) => `executor.status.${executorId}`,
  /** Request/reply, queue group of the executors: InspectRequest -> InspectReply. */
  inspect: 'executor.inspect',
  /** Service -> all executors: PrepareRequest. */
  prepare: 'executor.prepare',
  /** Request/reply, queue group: nothing -> `standbyReply`. Only worker-api has triggers. */
  standby: (source: RunSource, executorId: string) => `executor.standby.${source}.${executorId}`,
} as const;

/** Returns the executor that published a claim, withdrawal, renewal, request about a run, or status. */
export const parseExecutorId = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);

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
  /** Maximum size of the return value as JSON. */
  outputBytes: z.int().min(1),
  /** stdout, stderr and context.log() together; the rest is dropped with a notice. */
  logBytes: z.int().min(1),
  /** One artifact; all artifacts of a run together may have four times this size. */
  artifactBytes: z.int().min(1),
});
export type RunLimits = z.infer<typeof runLimits>;

export const stepKinds = ['step', 'sleep', 'approve', 'call', 'tool'] as const;
export type StepKind = (typeof stepKinds)[number];

/** A step's position among the run's steps (1, 2, ... in order of first request), its kind and its name. */
export const stepIdentity = {
  ordinal: z.int().min(1).max(1_000),
  kind: z.enum(stepKinds),
  name: z.string().min(1).max(200),
};
export const recordedStep = z.object({ ...stepIdentity, result: z.unknown() });
export type RecordedStep = z.infer<typeof recordedStep>;

/** Files that a run finds under contexts/<name>/. */
export const jobContext = z.object({
  name: z.string(),
  digest,
  url: z.string(),
  size: z.int(),
  /** Changed files are reported when the run completes: see `context` events. */
  writeable: z.boolean(),
});
export type JobContext = z.infer<typeof jobContext>;

export const job = z.object({
  runId: z.string(),
  source: z.enum(runSources),
  attempt: z.int().min(1),
  token: z.string(),
  /** The attempt number shown to the code. Absent: 1. */
  tryNumber: z.int().min(1).optional(),
  workspaceId: z.string(),
  /** The worker or automation. Absent: from a service of an earlier release. */
  subjectId: z.string().optional(),
  /** A test has no network, whatever `network` says, unless it is a rehearsal. */
  kind: z.enum(['run', 'test']),
  /**
   * Requests that would write get these responses, from the object store if there is a URL, or are refused. So are all
   * requests of code that no person has read.
   */
  rehearsal: z
    .object({
      answers: z.array(replayableResponse),
      answersUrl: z.string().optional(),
      isUnread: z.literal(true).optional(),
    })
    .optional(),
  runner: runner.default(PYTHON),
  code: z.object({ digest, url: z.string(), size: z.int() }),
  /** Path of the file that defines run(), relative to the root of the code. */
  entrypoint: z.string(),
  dependencies: z.array(z.string()),
  /** Digests of the version's locks, possibly none yet. Absent: its packages are not locked, as those of a draft. */
  locks: lockDigests.optional(),
  /** Set if the manifest declares outputs: the return value must then be an object with these names. */
  outputs: z.array(z.object({ name: z.string(), type: z.string() })).optional(),
  /** Exactly one of the two. */
  inputs: jsonObject.optional(),
  inputsUrl: z.string().optional(),
  /** Files that the executor downloads into /tmp/inputs; the input's value becomes that path. */
  files: z.array(z.object({ input: z.string(), name: z.string(), url: z.string(), size: z.int() })),
  /** Values by name. */
  secrets: z.record(z.string(), z.string()).optional(),
  /** Steps recorded by earlier attempts, by ordinal: at most one of the two. */
  steps: z.array(recordedStep).optional(),
  stepsUrl: z.string().optional(),
  contexts: z.array(jobContext).optional(),
  /** Whether the code may request approvals or call workers: only runs of workers may. Absent: neither. */
  may: z.array(z.enum(['approve', 'call'])).optional(),
  tools: z.array(jobTools).max(64).optional(),
  /** Absent: the entrypoint is code. */
  agent: jobAgent.optional(),
  limits: runLimits,
  network: z.enum(['egress', 'none']),
  /** If set, only these hosts are reachable; each must still have a public address. */
  allowedHosts: z.array(hostPattern).max(100).optional(),
  credentials: z.array(jobCredential).max(CREDENTIALS_MAX).optional(),
  isolation: z.enum(['zygote', 'process']),
  /** No warm sandbox: the code is imported for each run. */
  fresh: z.boolean().optional(),
  requestId: z.string().optional(),
  traceparent: z.string().optional(),
});
export type Job = z.infer<typeof job>;

/** Sandbox in which a run's code ran. `reason`: why this version cannot use a warm sandbox. */
export const sandboxInfo = z.object({
  mode: z.enum(['warm', 'fresh', 'process']),
  reason: z.string().max(500).optional(),
});
export type SandboxInfo = z.infer<typeof sandboxInfo>;

export const claimRequest = z.object({
  claimId: z.string(),
  /** X25519 public key (raw, base64) that the job is sealed to. */
  publicKey,
  /** The executor's runners: it receives only runs of these. */
  runners: z.array(runner).min(1).max(16).default([PYTHON]),
});
export type ClaimRequest = z.infer<typeof claimRequest>;
export const claimWithdrawal = z.object({ claimId: z.string() });

/** Sent by an executor with every request about an attempt. */
export const attemptIdentity = { runId: z.string(), attempt: z.int(), token: z.string() };

export const leaseRenewal = z.object({
  runs: z.array(z.object(attemptIdentity)).max(1_000),
});
export type LeaseRenewal = z.infer<typeof leaseRenewal>;
export const leaseReply = z.object({
  /** Runs whose cancellation was requested. */
  cancelled: z.array(z.string()),
  /** Runs that no longer belong to this executor: it stops them and reports nothing. */
  lost: z.array(z.string()),
});
export type LeaseReply = z.infer<typeof leaseReply>;

/** Maximum size of a step's result as JSON; larger data belongs in artifacts. */
export const STEP_BYTES_MAX = 64 * 1024;

/** Recorded before the code sees the result. Idempotent by ordinal, kind and name: the first record wins. */
export const recordStepRequest = z.object({
  ...attemptIdentity,
  ...stepIdentity,
  result: z.unknown(),
  startedAt: z.int(),
  /** As in its event; executors of earlier releases do not send it. */
  durationMs: z.int().min(0).optional(),
});
export type RecordStepRequest = z.infer<typeof recordStepRequest>;
/** `result` is the recorded value, even if another attempt recorded it first. */
export const stepReply = z.union([z.object({ result: z.unknown() }), z.object({ refused: z.string() })]);
export type StepReply = z.infer<typeof stepReply>;

const step = z.object(stepIdentity);
/** Reason why a run's process ends before the run does. The step is recorded as pending. */
export const suspension = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('sleep'),
    step,
    wakeAt: z.int().describe("epoch milliseconds, by the executor's clock"),
    /** Set if code requested a duration, which is independent of the executor's clock. */
    forMs: z.int().min(0).optional(),
  }),
  z.object({
    kind: z.literal('approve'),
    step,
    title: z.string().min(1).max(200),
    message: z.string().max(10_000).nullable(),
    data: z.unknown(),
    /** Items like inputs; validated by the receiver. */
    form: z.array(z.unknown()).max(50).nullable(),
    expiresInSeconds: z.number().positive().nullable(),
    /** Tool calls of an agent that are approved individually; `data` has their names and arguments. */
    calls: z.array(pendingCall).min(1).max(PENDING_CALLS_MAX).optional(),
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
  ...attemptIdentity,
  /**
   * `output`: a return value too large for a message. `context`: a changed context as a zip. `attachment`: a file that
   * is sent to a model, whose name is its SHA-256; see AttachmentReply.
   */
  purpose: z.enum(['artifact', 'output', 'context', 'attachment']),
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
/** `known`: the run has uploaded it before. */
export const attachmentReply = z.union([...artifactReply.options, z.object({ known: z.literal(true) })]);
export type AttachmentReply = z.infer<typeof attachmentReply>;

export const runErrorCodes = [
  'exception',
  'timeout',
  'out_of_memory',
  'output_too_large',
  'dependency_install',
  'executor_lost',
  'missing_secret',
  'missing_connection',
  'approval_rejected',
  'budget_exceeded',
  /** Agents only: mapped from the exception that their program raised. */
  'model_unavailable',
  'output_invalid',
  'turns_exceeded',
  'invalid_inputs',
  'cancelled',
  'sandbox',
] as const;
export type RunErrorCode = (typeof runErrorCodes)[number];

/** Marks the recorded result of a failed step whose exception the code caught. */
export const STEP_FAILED = 'gantry:failed';

export const failedStep = z.object({
  ordinal: stepIdentity.ordinal,
  name: stepIdentity.name,
  /** Class name of the Python exception. */
  type: z.string().max(200),
  message: z.string().max(2_000),
  startedAt: z.int().describe('epoch milliseconds'),
  finishedAt: z.int().describe('epoch milliseconds'),
});
export type FailedStep = z.infer<typeof failedStep>;

export const runError = z.object({
  code: z.enum(runErrorCodes),
  message: z.string(),
  /** Class name of the Python exception. */
  type: z.string().optional(),
  /** Frames of the user's files only. */
  trace: z.string().optional(),
  /** The last failed step, if no step followed it. */
  step: failedStep.optional(),
});
export type RunError = z.infer<typeof runError>;

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;

export const agentParts = ['text', 'tool_call', 'tool_result'] as const;
export const AGENT_TEXT_CHARS_MAX = 4_000;

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
  /** For subscribers only: a RecordStepRequest or the suspension stores the step. */
  z.object({
    ...base,
    type: z.literal('step'),
    ...stepIdentity,
    durationMs: z.int().min(0),
    /** Usage of a model call. */
    usage: modelUsage.optional(),
  }),
  /** A writeable context changed by the code, in full. Applied only if the run completes. */
  z.object({
    ...base,
    type: z.literal('context'),
    name: z.string(),
    /** Digest of the context that the run received. */
    from: digest,
    size: z.int(),
    sha256: digest,
    key: z.string(),
  }),
  /** One outgoing request of the code, without its contents. */
  z.object({
    ...base,
    type: z.literal('request'),
    /** Null: an uninspected tunnel, whose requests are counted together. */
    method: z.string().max(20).nullable(),
    scheme: z.enum(['http', 'https']),
    host: z.string().max(260),
    port: z.int(),
    /** Without its query, masked. */
    path: z.string().max(300).nullable(),
    status: z.int().nullable(),
    bytesSent: z.int().min(0),
    bytesReceived: z.int().min(0),
    durationMs: z.int().min(0),
    /** Names of the credentials that were inserted. */
    credentials: z.array(z.string()).max(64),
    /** Number of credential values that were found in the response and replaced. Absent: none. */
    echoed: z.int().min(1).optional(),
    /** Absent: a response arrived. `refused`: by a rule; `failed`: by the network or the server. */
    problem: z.object({ kind: z.enum(['refused', 'failed']), message: z.string().max(300) }).optional(),
    /** Response to a writing request; never displayed. */
    answer: recordedResponse.optional(),
    /** Rehearsals: the replayed record; null: a writing request without one. Absent: the request was sent. */
    recorded: z.int().nullable().optional(),
  }),
  /** Text, tool call or tool result of an agent; the transcript has the full texts. */
  z.object({
    ...base,
    type: z.literal('agent'),
    part: z.enum(agentParts),
    /** Name of the tool; null for text. */
    name: z.string().max(200).nullable(),
    /** Masked, may be truncated. */
    text: z.string().max(AGENT_TEXT_CHARS_MAX),
    /** The model's id of a tool call and its result. */
    callId: z.string().max(200).optional(),
    /** Part of that step's response, from this character offset on. Absent: the text is complete. */
    piece: z.object({ step: stepIdentity.ordinal, offset: z.int().min(0) }).optional(),
  }),
  z.object({ ...base, type: z.literal('cost'), usd: z.number().min(0), label: z.string().nullable() }),
  z.object({
    ...base,
    type: z.literal('finished'),
    /** `returned`: never started here, back to the queue (the executor is draining). */
    status: z.enum(['completed', 'failed', 'timed_out', 'cancelled', 'returned', 'suspended']),
    /** Present exactly when suspended. */
    suspension: suspension.optional(),
    /** The return value, masked: exactly one of the two when completed. */
    output: z.unknown().optional(),
    outputKey: z.string().optional(),
    error: runError.optional(),
    /** `costUsd`: the sum of the run's calls to context.cost(). */
    usage: z.object({
      wallMs: z.number(),
      cpuMs: z.number(),
      maxRssBytes: z.int(),
      costUsd: z.number().min(0).default(0),
      sandbox: sandboxInfo.optional(),
    }),
  }),
]);
export type RunEvent = z.infer<typeof runEvent>;

/** The payload of `run.events`; the subject identifies the run. */
export const runEventBatch = z.object({
  attempt: z.int().min(1),
  token: z.string(),
  events: z.array(runEvent).min(1),
});
export interface RunEventBatch extends z.infer<typeof runEventBatch> {
  executorId: string;
  runId: string;
}

/** @throws SyntaxError or ZodError for anything but a batch of events. */
export function decodeRunEvents({ subject, data }: { subject: string; data: Uint8Array }): RunEventBatch {
  const [, , , executorId = '', runId = ''] = subject.split('.');
  return { ...runEventBatch.parse(JSON.parse(Buffer.from(data).toString())), executorId, runId };
}

export const cancelRequest = z.object({ token: z.string() });
export type CancelRequest = z.infer<typeof cancelRequest>;

export const executorStatus = z.object({
  state: z.enum(['ready', 'draining', 'stopped']),
  slots: z.int(),
  busy: z.int(),
  isolation: z.enum(['zygote', 'process']),
  python: z.string(),
  startedAt: z.int(),
});
export type ExecutorStatus = z.infer<typeof executorStatus>;
