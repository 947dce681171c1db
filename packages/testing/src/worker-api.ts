/**
 * The real worker-api in the test's own process, for services that need signed-in users.
 *
 * Loaded by its path at run time: the boundaries between services are checked on imports, and this package is built
 * without any service.
 */
import path from 'node:path';
import { captureLogs } from './capture-logs';
import type { FakeExecutor, FakeJob } from './fake-executor';
import { setupResource } from './setup-resource';
import { setupBus, setupNats, type TestNats } from './test-nats';

/** The parts of TestWorkerApi that are used here; see services/worker-api/src/test/test-worker-api.ts. */
export interface RunningWorkerApi {
  /** Address that it listens on. */
  url: string;
  /** The access JWT and the session cookie of the first owner. */
  owner: { userId: string; email: string; jwt: string; cookie: string };
  workspaceId: string;
  foreign: { workspaceId: string; owner: { jwt: string } };
  /** Another member of the same workspace, with a session. */
  addMember(
    role: 'viewer' | 'member' | 'admin',
    options?: { emailVerified?: boolean },
  ): Promise<{ userId: string; email: string; jwt: string; cookie: string }>;
  createToken(kind: 'personal' | 'workspace', jwt: string, body?: object): Promise<{ id: string; token: string }>;
  /** An executor that completes every run with what `work` returns, until the service stops or the result is called. */
  serveRuns(work: (job: FakeJob) => unknown, slots?: number): Promise<() => Promise<void>>;
  connectExecutor(): Promise<FakeExecutor>;
  stop(): Promise<void>;
}

export const WORKER_API_ISSUER = 'http://api.test';

export async function startWorkerApi(nats: TestNats): Promise<RunningWorkerApi> {
  const file = path.resolve(__dirname, '../../../services/worker-api/src/test/test-worker-api');
  const { startTestWorkerApi } = require(file) as {
    startTestWorkerApi(options: { nats: TestNats }): Promise<RunningWorkerApi>;
  };
  return startTestWorkerApi({ nats });
}

/** Before the tests of this file or `describe`, and until after them. */
export const setupWorkerApi = (nats: TestNats): RunningWorkerApi =>
  setupResource(
    () => startWorkerApi(nats),
    (api) => api.stop(),
  );

/** Options with which another service verifies its JWTs. */
export const getTrustedIssuer = ({ url }: RunningWorkerApi) => ({
  jwksUrl: `${url}/.well-known/jwks.json`,
  issuer: WORKER_API_ISSUER,
  audience: 'gantry',
});

/** Sets up another service's part of the platform: its NATS connection, with accounts of the real worker-api. */
export function setupAccounts(service: 'automation-api' | 'skills-api') {
  const nats = setupNats();
  return { ...captureLogs(), nats, accounts: setupWorkerApi(nats), bus: setupBus(nats, service) };
}

/** Limit for what must not wait until cached identities expire, which takes 20 s. */
export const BY_EVENT = { deadlineMs: 15_000 };
