/** Fakes the services' side of the run protocol, and an object store, controlled by a test. */
import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ArtifactReply,
  type Bus,
  CLAIM_HOLD_MS,
  type ClaimRequest,
  connectBus,
  consumeDurable,
  createSealer,
  decodeRunEvents,
  EMPTY_REPLY,
  type ExecutorStatus,
  encode,
  getRunEventsStreamName,
  INGEST_DURABLE,
  type Job,
  type LeaseRenewal,
  type LockedPackage,
  lockRequest,
  newId,
  type PrepareRequest,
  PYTHON,
  parseExecutorId,
  type RecordedStep,
  type RecordStepRequest,
  type RunEvent,
  type RunEventBatch,
  recordStepRequest,
  runSubjects,
  type StepReply,
  sealJob,
} from '@gantry/events';
import { createZip, type TestNats, waitUntil } from '@gantry/testing';
import type { JsMsg, Msg } from 'nats';
import { pino } from 'pino';

export interface RunView {
  job: Job;
  /** By sequence number, regardless of arrival order and duplicates. */
  events: RunEvent[];
  batches: RunEventBatch[];
  finished: Extract<RunEvent, { type: 'finished' }>;
  /** Texts of the log in order. */
  log: string[];
}

export type JobOverrides = Partial<Omit<Job, 'limits'>> & {
  limits?: Partial<Job['limits']>;
};

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

type AssignedJob = Job & { executorId: string };

export const LIMITS: Job['limits'] = {
  wallMs: 120_000,
  cpuSeconds: 10,
  memoryBytes: 256 << 20,
  processes: 32,
  tmpBytes: 64 << 20,
  outputBytes: 4 << 20,
  logBytes: 1 << 20,
  artifactBytes: 4 << 20,
};

type JobIdentity = Pick<Job, 'runId' | 'source' | 'token' | 'code'>;

/** Builds the job of a run of `main.py` without inputs, packages and network. */
export const buildJob = (identity: JobIdentity, { limits, ...overrides }: JobOverrides = {}): Job => ({
  attempt: 1,
  workspaceId: 'ws_test',
  kind: 'run',
  runner: PYTHON,
  entrypoint: 'main.py',
  dependencies: [],
  inputs: {},
  files: [],
  network: 'none',
  isolation: 'zygote',
  limits: { ...LIMITS, ...limits },
  ...identity,
  ...overrides,
});

/** @param nats also receives the executors' status, which is not sent to this service */
export async function startFakeService(bus: Bus, nats: TestNats, source: Job['source'] = 'automation') {
  const objects = new Map<string, Buffer>();
  const requestsToStore: string[] = [];
  const store = http.createServer(async (req, res) => {
    const key = new URL(req.url ?? '', 'http://store').pathname.slice(1);
    requestsToStore.push(`${req.method} ${key}`);
    if (key === 'hangs') return;
    if (req.method === 'PUT') {
      const parts: Buffer[] = [];
      for await (const part of req) parts.push(part);
      objects.set(key, Buffer.concat(parts));
      return res.end();
    }
    const found = objects.get(key);
    if (found) res.end(found);
    else res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;

  const seal = createSealer();
  const jobs = new Map<string, Job>();
  /** By run and attempt. */
  const tokens = new Map<string, string>();
  const waitingJobs: string[] = [];
  const waitingClaims: Msg[] = [];
  /** The latest attempt at each run. */
  const attempts = new Map<string, number>();
  const assignedJobs = new Map<string, AssignedJob>();
  const batches = new Map<string, RunEventBatch[]>();
  const self = {
    claims: [] as ClaimRequest[],
    withdrawn: [] as string[],
    statuses: [] as (ExecutorStatus & { executorId: string })[],
    renewals: [] as (LeaseRenewal & { executorId: string })[],
    /** Standby versions in the reply to executors. */
    standby: [] as PrepareRequest[],
    cancelledAtLease: new Set<string>(),
    lostAtLease: new Set<string>(),
    /** Every request to record a step. */
    stepRequests: [] as RecordStepRequest[],
    /** Locks by platform: of all jobs that have `locks`. */
    locks: new Map<string, LockedPackage[]>(),
  };
  const recorded = new Map<string, Map<number, RecordedStep>>();

  /** The first record of an ordinal wins. */
  function recordStep(runId: string, { ordinal, kind, name, result }: RecordedStep): StepReply {
    const own = recorded.get(runId) ?? new Map<number, RecordedStep>();
    recorded.set(runId, own);
    const step = own.get(ordinal) ?? { ordinal, kind, name, result };
    if (step.kind !== kind || step.name !== name) return { refused: `${step.name} is recorded there` };
    own.set(ordinal, step);
    return { result: step.result };
  }

  function assignJobs() {
    while (waitingJobs.length && waitingClaims.length) {
      const message = waitingClaims.shift() as Msg;
      const runId = waitingJobs.shift() as string;
      const job = jobs.get(runId);
      if (!job) continue;
      const claimant = { ...message.json<ClaimRequest>(), executorId: parseExecutorId(message.subject) };
      assignedJobs.set(runId, { ...job, executorId: claimant.executorId });
      message.respond(sealJob(seal, claimant, job));
    }
  }

  /** Lists the recorded steps of a run, in order. */
  const listSteps = (runId: string) => [...(recorded.get(runId)?.values() ?? [])].sort((a, b) => a.ordinal - b.ordinal);

  bus.nc.subscribe(runSubjects.claim(source, '*'), {
    callback: (_, message) => {
      self.claims.push(message.json());
      waitingClaims.push(message);
      assignJobs();
      setTimeout(() => {
        const at = waitingClaims.indexOf(message);
        if (at >= 0) waitingClaims.splice(at, 1)[0]?.respond(EMPTY_REPLY);
      }, CLAIM_HOLD_MS).unref();
    },
  });
  bus.nc.subscribe(runSubjects.withdraw(source, '*'), {
    callback: (_, message) => {
      const { claimId } = message.json<{ claimId: string }>();
      self.withdrawn.push(claimId);
      const at = waitingClaims.findIndex((waiting) => waiting.json<ClaimRequest>().claimId === claimId);
      if (at >= 0) waitingClaims.splice(at, 1)[0]?.respond(EMPTY_REPLY);
    },
  });
  bus.nc.subscribe(runSubjects.lease(source, '*'), {
    callback: (_, message) => {
      const renewal = message.json<LeaseRenewal>();
      if (renewal.runs.length) self.renewals.push({ ...renewal, executorId: parseExecutorId(message.subject) });
      const ids = renewal.runs.map(({ runId }) => runId);
      message.respond(
        encode({
          cancelled: ids.filter((id) => self.cancelledAtLease.has(id)),
          lost: ids.filter((id) => self.lostAtLease.has(id)),
        }),
      );
    },
  });
  function answerUpload(message: Msg) {
    const { name, runId, purpose } = message.json<{ name: string; runId: string; purpose: string }>();
    const key = `${runId}/${encodeURIComponent(name)}`;
    if (purpose === 'attachment' && objects.has(key)) return void message.respond(encode({ known: true }));
    const reply: ArtifactReply = name === 'refused' ? { refused: 'quota' } : { key, url: `${base}/${key}?signature=x` };
    message.respond(encode(reply));
  }
  const answerUploads = () =>
    bus.nc.subscribe(runSubjects.artifact(source, '*'), { callback: (_, message) => answerUpload(message) });
  let uploadAnswers = answerUploads();
  bus.nc.subscribe(runSubjects.step(source, '*'), {
    callback: (_, message) => {
      const step = recordStepRequest.parse(message.json());
      self.stepRequests.push(step);
      message.respond(encode(step.name === 'refused' ? { refused: 'no' } : recordStep(step.runId, step)));
    },
  });
  bus.nc.subscribe(runSubjects.lock(source, '*'), {
    callback: (_, message) => {
      const { platform, packages } = lockRequest.parse(message.json());
      if (packages && !self.locks.has(platform)) self.locks.set(platform, packages);
      message.respond(encode({ packages: self.locks.get(platform) ?? null }));
    },
  });
  if (source === 'worker') {
    bus.nc.subscribe(runSubjects.standby(source, '*'), {
      callback: (_, message) => void message.respond(encode({ versions: self.standby })),
    });
  }
  const log = pino({ level: 'silent' });
  const spectator = await connectBus({ ...nats.spectator, name: 'spectator', log });
  spectator.nc.subscribe(runSubjects.executorStatus('*'), {
    callback: (_, message) => {
      self.statuses.push({ ...message.json<ExecutorStatus>(), executorId: parseExecutorId(message.subject) });
    },
  });
  // Only events stored by JetStream count, as for the real service.
  const ingest = consumeDurable({
    bus,
    log,
    stream: getRunEventsStreamName(source),
    durable: INGEST_DURABLE,
    messagesMax: 500,
    onMessage: (message) => {
      storeBatch(message);
      message.ack();
    },
  });

  function storeBatch(message: JsMsg) {
    const batch = decodeRunEvents(message);
    if (batch.token !== tokens.get(`${batch.runId}/${batch.attempt}`)) throw new Error('events with a wrong token');
    batches.set(batch.runId, [...(batches.get(batch.runId) ?? []), batch]);
  }

  /** Returns the view of the latest attempt, unless another is named. */
  function getView(runId: string, attempt = attempts.get(runId) ?? 1) {
    const own = (batches.get(runId) ?? []).filter((batch) => batch.attempt === attempt);
    const bySeq = new Map(own.flatMap((batch) => batch.events.map((event) => [event.seq, event] as const)));
    const events = [...bySeq.values()].sort((a, b) => a.seq - b.seq);
    return { events, batches: own, log: events.flatMap((event) => (event.type === 'log' ? [event.text] : [])) };
  }

  /** Queues a run for the next claim. @returns its id. */
  function enqueue(code: Job['code'], overrides: JobOverrides = {}): string {
    const runId = overrides.runId ?? newId('run_');
    const job = buildJob({ runId, source, token: newId('tok_'), code }, overrides);
    jobs.set(runId, job);
    tokens.set(`${runId}/${job.attempt}`, job.token);
    attempts.set(runId, overrides.attempt ?? 1);
    waitingJobs.push(runId);
    assignJobs();
    return runId;
  }

  async function waitForFinished(runId: string): Promise<RunView> {
    await waitUntil(() => getView(runId).events.find((event) => event.type === 'finished'), {
      what: `${runId} has finished`,
    });
    const seen = getView(runId);
    const end = seen.events.find((event) => event.type === 'finished');
    return { ...seen, job: assignedJobs.get(runId) as Job, finished: end as RunView['finished'] };
  }

  async function uploadCode(files: Record<string, string | Buffer> | string): Promise<Job['code']> {
    const zip = await createZip(typeof files === 'string' ? { 'main.py': files } : files);
    const digest = createHash('sha256').update(zip).digest('hex');
    objects.set(`code/${digest}`, zip);
    return { digest, url: `${base}/code/${digest}`, size: zip.length };
  }

  return {
    ...self,
    objects,
    requestsToStore,
    buildUrl: (path: string) => `${base}/${path}`,
    listSteps,
    /** Records a step as the service does when a run's wait is over. */
    recordStep: (runId: string, step: RecordedStep) => void recordStep(runId, step),
    /** Assigns the run again, with its recorded steps, and waits for the end of that attempt. */
    runAgain(runId: string, overrides?: JobOverrides) {
      const { code, attempt, may } = assignedJobs.get(runId) as Job;
      const steps = listSteps(runId);
      return waitForFinished(enqueue(code, { runId, attempt: attempt + 1, may, steps, ...overrides }));
    },
    uploadCode,
    enqueue,
    /** Queues a run and waits for its terminal event. */
    run: async (files: Record<string, string> | string, overrides?: JobOverrides) =>
      waitForFinished(enqueue(await uploadCode(files), overrides)),
    getView,
    waitForFinished,
    waitForStarted: async (runId: string) => {
      await waitUntil(() => getView(runId).events.some((event) => event.type === 'started'));
    },
    /** Requests the executor that holds the run to stop it. */
    cancel: (runId: string) => {
      const { token, executorId } = assignedJobs.get(runId) as AssignedJob;
      bus.nc.publish(runSubjects.cancel(executorId, runId), encode({ token }));
    },
    /** From now on, requests for an upload location have no responder. */
    stopUploads: () => uploadAnswers.unsubscribe(),
    resumeUploads() {
      uploadAnswers = answerUploads();
    },
    countWaitingClaims: () => waitingClaims.length,
    /** Drops the claims of a killed executor: with a real service its lease would expire. */
    forgetClaims: () => void waitingClaims.splice(0),
    stop: async () => {
      await ingest.stop();
      await spectator.nc.close();
      store.closeAllConnections();
      await new Promise((resolve) => store.close(resolve));
    },
  };
}
