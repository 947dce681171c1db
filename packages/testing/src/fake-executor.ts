/** Speaks the executors' side of the run protocol, and does with each job what the test says. */
import {
  type Bus,
  createOpener,
  encode,
  generateBoxKeys,
  installationReport,
  type Job,
  type LockedPackage,
  type LockReply,
  type LockRequest,
  leaseReply,
  lockReply,
  newId,
  openJob,
  type PrepareRequest,
  prepareRequest,
  publishInstallationReport,
  type RecordStepRequest,
  type RunEvent,
  type RunSource,
  request,
  runSubjects,
  type Suspension,
  stepReply,
} from '@gantry/events';
import { waitUntil } from './wait-until';

type WithoutSeq<T> = T extends unknown ? Omit<T, 'seq' | 'at'> : never;
export type FakeEvent = WithoutSeq<RunEvent>;

export interface FakeJob extends Job {
  /** Publishes the next events of this attempt in one message, again until NATS has stored it. */
  report(...events: FakeEvent[]): Promise<void>;
  /** `started`, then `completed` with this output. */
  complete(output: unknown): Promise<void>;
  /** `started`, then an ending that waits for this. */
  suspend(suspension: Suspension): Promise<void>;
  /**
   * Asks the service to record a step.
   * @returns what counts as its result.
   * @throws Error with the reason of a refusal
   */
  step(ordinal: number, name: string, result: unknown, over?: Partial<RecordStepRequest>): Promise<unknown>;
  /** Requests the lock of its version, with a proposal if there is one. */
  lock(platform: string, packages?: LockedPackage[], over?: Partial<LockRequest>): Promise<LockReply>;
}

export interface FakeExecutor {
  id: string;
  bus: Bus;
  /** Asks for one job; null if the service had none. */
  claim(timeoutMs?: number): Promise<FakeJob | null>;
  /** Claims until it has a job, as executors do. */
  claimJob(): Promise<FakeJob>;
  /** Collects the announcements of packages and code from now on. */
  collectAnnouncements(): Promise<PrepareRequest[]>;
  /** Lets `respond` report on each announced installation from now on. @returns a function that ends it */
  handleInstallations(respond: (report: (fields: object) => void) => void): Promise<() => void>;
  renew(...jobs: FakeJob[]): Promise<{ cancelled: string[]; lost: string[] }>;
  /** Keeps `slots` claims standing and completes every job with what `work` returns, until stopped. */
  serve(slots: number, work: (job: FakeJob) => unknown): () => Promise<void>;
}

export const zeroUsage = { wallMs: 1, cpuMs: 1, maxRssBytes: 1, costUsd: 0 };

/** @param runners what it has; absent: it does not say, like one from before there were runners */
export function createFakeExecutor(bus: Bus, source: RunSource, runners?: string[]): FakeExecutor {
  const id = bus.user;
  const { publicKey, privateKey } = generateBoxKeys();
  const open = createOpener(privateKey);
  const standingClaimIds = new Set<string>();

  async function claim(timeoutMs = 7_000): Promise<FakeJob | null> {
    const claimId = newId('claim_');
    const asked = encode({ claimId, publicKey, ...(runners && { runners }) });
    standingClaimIds.add(claimId);
    const answer = await bus.nc
      .request(runSubjects.claim(source, id), asked, { timeout: timeoutMs })
      .finally(() => standingClaimIds.delete(claimId));
    const job = openJob(open, { executorId: id, claimId }, answer.data);
    if (!job) return null;
    const { runId, attempt, token } = job;
    let seq = 0;
    const report = async (...events: FakeEvent[]) => {
      const numbered = events.map((event) => ({ ...event, seq: ++seq, at: Date.now() }) as RunEvent);
      const batch = encode({ attempt, token, events: numbered });
      const subject = runSubjects.events(source, id, runId);
      // The test is over where the connection is closed: the report is not needed.
      const publish = async () => bus.nc.isClosed() || bus.js.publish(subject, batch, { timeout: 1_000 });
      await waitUntil(publish, { everyMs: 100, what: 'the report is stored' });
    };
    return {
      ...job,
      report,
      complete: (output) =>
        report({ type: 'started' }, { type: 'finished', status: 'completed', output, usage: zeroUsage }),
      suspend: (suspension) =>
        report({ type: 'started' }, { type: 'finished', status: 'suspended', suspension, usage: zeroUsage }),
      step: async (ordinal, name, result, over = {}) => {
        const record = { runId, attempt, token, ordinal, kind: 'step', name, result, startedAt: Date.now() };
        const reply = await request(bus, runSubjects.step(source, id), { ...record, ...over }, stepReply, 2_000);
        if ('refused' in reply) throw new Error(reply.refused);
        return reply.result;
      },
      lock: (platform, packages, over = {}) => {
        const message = { runId, attempt, token, platform, ...(packages && { packages }), ...over };
        return request(bus, runSubjects.lock(source, id), message, lockReply, 2_000);
      },
    };
  }

  return {
    id,
    bus,
    claim,
    claimJob: () => waitUntil(() => claim(), { what: 'a job is claimed' }),
    async handleInstallations(respond) {
      let sequence = Date.now();
      const subscription = bus.nc.subscribe(runSubjects.prepare, {
        callback: (_, message) => {
          const { installation } = prepareRequest.parse(message.json());
          const report = (fields: object) => {
            const numbered = { id: installation?.id, startedAt: Date.now(), sequence: ++sequence, ...fields };
            publishInstallationReport(bus, source, id, installationReport.parse(numbered));
          };
          if (installation) respond(report);
        },
      });
      await bus.nc.flush();
      return () => subscription.unsubscribe();
    },
    async collectAnnouncements() {
      const announcements: PrepareRequest[] = [];
      bus.nc.subscribe(runSubjects.prepare, { callback: (_, message) => void announcements.push(message.json()) });
      await bus.nc.flush();
      return announcements;
    },
    renew: (...jobs) =>
      request(
        bus,
        runSubjects.lease(source, id),
        { runs: jobs.map(({ runId, attempt, token }) => ({ runId, attempt, token })) },
        leaseReply,
        2_000,
      ),
    serve(slots, work) {
      let serving = true;
      const runSlot = async () => {
        while (serving && !bus.nc.isClosed()) {
          // A connection that is being closed refuses at once, for ever: give it a turn.
          const job = await claim().catch(() => new Promise<null>((resolve) => setTimeout(resolve, 20, null)));
          if (job) await job.complete(await work(job));
        }
      };
      const done = Promise.all(Array.from({ length: slots }, runSlot));
      return async () => {
        if (!serving || bus.nc.isClosed()) return;
        serving = false;
        // The run of another test would answer one.
        for (const claimId of standingClaimIds) bus.nc.publish(runSubjects.withdraw(source, id), encode({ claimId }));
        await Promise.race([done, bus.nc.drain()]);
      };
    },
  };
}
