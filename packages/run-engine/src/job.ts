/** Builds an executor's job from a run. */
import {
  CREDENTIALS_MAX,
  encode,
  INLINE_BYTES_MAX,
  type Job,
  type JobCredential,
  type JobTools,
  MESSAGE_BYTES_MAX,
  measureSecretsBytes,
  type RecordedStep,
  type ReplayableResponse,
  type RunError,
  type RunSource,
  SECRETS_BYTES_MAX,
} from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import { buildRunFolder } from './object-keys';
import type { Run } from './run';
import type { RunTokens } from './run-tokens';

/**
 * Loads what a run's code gets besides its inputs, for each attempt: values by name, without unset ones; and
 * credentials, of which the code gets only placeholders. `refused`: the reason why the run cannot be handed out.
 */
export type LoadRunSecrets = (
  run: Run,
) => Promise<{ refused: RunError } | { secrets: Record<string, string>; credentials?: JobCredential[] }>;

/** Loads the connections whose tools a run may call. */
export type LoadTools = (run: Run) => Promise<JobTools[]>;

/**
 * Recorded steps, and recorded responses, beyond this size travel by object store: inputs and secrets may take the rest
 * of a message.
 */
const STEPS_INLINE_BYTES_MAX = 24 * 1024;

/** Presigned URLs in a job must outlive its waiting and fetching, not its running. */
const URL_SECONDS = 600;

export type BuiltJob = { job: Job } | { refused: RunError };

/** @returns `refused` if the run cannot be handed out: a declared secret is not set, or they are too large. */
export async function buildJob(
  run: Run,
  executorId: string,
  deps: {
    source: RunSource;
    tokens: RunTokens;
    objects: ObjectStore;
    givenTo: LoadRunSecrets;
    toolsOf?: LoadTools | undefined;
    /** Loads the steps that earlier attempts have recorded. */
    loadSteps: (run: Run) => Promise<RecordedStep[]>;
    /** Loads the digests of the locks of the run's version. */
    loadLocks: (run: Run) => Promise<Record<string, string> | undefined>;
    /** For a rehearsal: loads the responses to requests that would write. */
    loadResponses: (run: Run) => Promise<ReplayableResponse[]>;
    /** Objects of the run are stored only after this. Undefined: the run is inserted. */
    insertion: Promise<unknown> | undefined;
  },
): Promise<BuiltJob> {
  const { spec } = run;
  const { objects } = deps;
  const [runSecrets, locks] = await Promise.all([deps.givenTo(run), deps.loadLocks(run)]);
  if ('refused' in runSecrets) return runSecrets;
  const { secrets, credentials = [] } = runSecrets;
  const internal = { expiresSeconds: URL_SECONDS, audience: 'internal' } as const;

  async function storeJson(name: string, content: Buffer): Promise<string> {
    const key = `${buildRunFolder(run.workspaceId, run.id)}/${name}`;
    await deps.insertion;
    await objects.put(key, content, { contentType: 'application/json' });
    return objects.presignGet(key, internal);
  }

  const job: Job = {
    runId: run.id,
    source: deps.source,
    attempt: run.attempt,
    token: deps.tokens.issue({ runId: run.id, attempt: run.attempt, executorId }),
    ...(run.tries > 1 && { tryNumber: run.tries }),
    workspaceId: run.workspaceId,
    subjectId: run.subjectId,
    kind: run.kind,
    runner: spec.runner,
    code: { digest: spec.code.digest, size: spec.code.size, url: await objects.presignGet(spec.code.key, internal) },
    entrypoint: spec.entrypoint,
    dependencies: spec.dependencies,
    ...(locks && { locks }),
    ...(spec.outputs.length && { outputs: spec.outputs }),
    files: await Promise.all(
      spec.files.map(async ({ key, ...file }) => ({ ...file, url: await objects.presignGet(key, internal) })),
    ),
    limits: spec.limits,
    network: spec.network,
    ...(spec.allowedHosts && { allowedHosts: spec.allowedHosts }),
    isolation: spec.isolation,
    ...(spec.fresh && { fresh: true }),
    ...(spec.may && { may: spec.may }),
    ...(spec.contexts && {
      contexts: await Promise.all(
        spec.contexts.map(async ({ key, ...context }) => ({
          ...context,
          url: await objects.presignGet(key, internal),
        })),
      ),
    }),
    ...(run.requestId && { requestId: run.requestId }),
    ...(run.traceparent && { traceparent: run.traceparent }),
  };

  // Bounded: 50 secrets (`secretNames` of packages/program) and 64 credentials (CREDENTIALS_MAX).
  const missing = spec.secrets.filter(
    (name) => !Object.hasOwn(secrets, name) && !credentials.some((one) => one.kind === 'secret' && one.name === name),
  );
  if (missing.length) {
    const names = missing.join(', ');
    const message = `secrets not set in this workspace: ${names}. Set them with POST /api/secrets and start a new run.`;
    return { refused: { code: 'missing_secret', message } };
  }
  const excess = describeExceededLimit(secrets, credentials);
  if (excess !== null) return { refused: { code: 'invalid_inputs', message: excess } };
  if (spec.secrets.length) job.secrets = secrets;
  if (credentials.length) job.credentials = credentials;

  if (spec.agent) job.agent = spec.agent;
  const tools = (await deps.toolsOf?.(run)) ?? [];
  if (tools.length) job.tools = tools;

  const inputs = Buffer.from(JSON.stringify(run.inputs));
  if (inputs.length <= INLINE_BYTES_MAX) job.inputs = run.inputs;
  else job.inputsUrl = await storeJson('inputs.json', inputs);
  const steps = run.attempt > 1 ? await deps.loadSteps(run) : [];
  if (steps.length) {
    const recorded = Buffer.from(JSON.stringify(steps));
    if (recorded.length <= STEPS_INLINE_BYTES_MAX) job.steps = steps;
    else job.stepsUrl = await storeJson('steps.json', recorded);
  }
  if (spec.rehearsal) {
    const answers = await deps.loadResponses(run);
    const recorded = Buffer.from(JSON.stringify(answers));
    job.rehearsal = { answers, isUnread: spec.rehearsal.isUnread };
    if (recorded.length > STEPS_INLINE_BYTES_MAX) {
      job.rehearsal.answers = [];
      job.rehearsal.answersUrl = await storeJson('answers.json', recorded);
    }
  }
  if (encode(job).length > MESSAGE_BYTES_MAX) {
    const message = "this run's secrets are too large when encoded as JSON: each control character takes six bytes";
    return { refused: { code: 'invalid_inputs', message } };
  }
  return { job };
}

/** Describes which limit of a job is exceeded; null: none. */
function describeExceededLimit(secrets: Record<string, string>, credentials: JobCredential[]): string | null {
  const bytes = measureSecretsBytes(secrets, credentials);
  if (bytes > SECRETS_BYTES_MAX) {
    const what = credentials.length ? 'secrets and connections' : 'secrets';
    return `the ${what} of this run total ${bytes} bytes, but at most ${SECRETS_BYTES_MAX} (64 KB) are allowed: declare only those that the code needs`;
  }
  if (credentials.length > CREDENTIALS_MAX) {
    return `this run has ${credentials.length} connections and secrets with hosts, but at most ${CREDENTIALS_MAX} are allowed: declare only those that the code needs`;
  }
  return null;
}
