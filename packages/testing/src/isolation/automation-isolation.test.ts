/**
 * The automation surface as strangers see it, and at last what is left of a deleted workspace.
 * @sequential
 */
import { createOpaqueToken } from '@gantry/auth';
import { newId, type Restriction, workspaceDeleted } from '@gantry/events';
import { openapiFiles } from '@gantry/openapi';
import {
  createArtifact,
  deployArtifact,
  helloManifest,
  startService,
} from '../../../../services/automation-api/src/test/service';
import { startTestEventPublisher } from '../event-publisher';
import { waitUntil } from '../wait-until';
import type { ClosingSurface } from './closed-matrix';
import { createUnknownIds, type Fixture } from './matrix';
import { testIsolation } from './test-isolation';

const ofAutomation: Fixture = { send: ({ automation }) => ({ path: { automationId: automation } }) };
const ofRun: Fixture = { send: ({ run }) => ({ path: { runId: run } }) };
const ofPageRun: Fixture = { send: ({ automation, run }) => ({ path: { automationId: automation, runId: run } }) };
const nothing: Fixture = { send: () => ({}) };
const inputs = { who: 'a stranger' };

const fixtures: Record<string, Fixture> = {
  live: nothing,
  ready: nothing,
  createUploadUrl: nothing,
  createArtifact: {
    send: ({ upload }) => ({ body: { manifest: helloManifest, entrypoint: 'main.py', storageKey: upload } }),
  },
  getArtifactCode: { send: ({ artifact }) => ({ path: { artifactId: artifact } }) },
  testArtifact: {
    send: ({ artifact, automation }) => ({ body: { artifactId: artifact, automationId: automation, inputs } }),
  },
  getTestRun: { send: ({ testRun }) => ({ path: { testRunId: testRun } }) },
  deployAutomation: { send: ({ artifact }) => ({ body: { artifactId: artifact } }) },
  listAutomations: nothing,
  getAutomation: ofAutomation,
  patchAutomation: { send: ({ automation }) => ({ path: { automationId: automation }, body: { status: 'paused' } }) },
  archiveAutomation: ofAutomation,
  updateAutomation: {
    send: ({ automation, artifact }) => ({ path: { automationId: automation }, body: { artifactId: artifact } }),
  },
  rollbackAutomation: { send: ({ automation }) => ({ path: { automationId: automation }, body: { version: 1 } }) },
  listVersions: ofAutomation,
  runAutomation: { send: ({ automation }) => ({ path: { automationId: automation }, body: { inputs, wait: 0 } }) },
  listRuns: { send: ({ automation }) => ({ query: `automationId=${automation}` }) },
  getRun: ofRun,
  cancelRun: ofRun,
  streamRunEvents: ofRun,
  listRunArtifacts: ofRun,
  downloadRunArtifact: { send: ({ run, runArtifact }) => ({ path: { runId: run, artifactId: runArtifact } }) },
  listSecrets: nothing,
  listDeclaredSecrets: nothing,
  setSecret: { send: () => ({ body: { name: 'HOME_SECRET', value: 'another value', hosts: ['api.example.com'] } }) },
  deleteSecret: { send: ({ secret }) => ({ path: { name: secret } }) },
  getPage: ofAutomation,
  runFromPage: { send: ({ automation }) => ({ path: { automationId: automation }, body: { inputs, wait: 0 } }) },
  getPageRun: ofPageRun,
  cancelPageRun: ofPageRun,
  streamPageRunEvents: ofPageRun,
  downloadPageRunArtifact: {
    send: ({ automation, run, runArtifact }) => ({
      path: { automationId: automation, runId: run, artifactId: runArtifact },
    }),
  },
};

async function start(): Promise<ClosingSurface & { stop(): Promise<void> }> {
  const service = await startService();
  const owner = service.createCaller({ role: 'owner' });
  const { workspaceId } = owner;
  const inHome = (role: 'viewer' | 'member' | 'admin') => service.createCaller({ role, workspaceId }).token;
  const createRestrictedToken = (restriction: Restriction) =>
    service.createCaller({ role: 'owner', workspaceId, restriction }).token;
  const foreigner = service.createCaller({ role: 'owner' });

  await owner.post('/api/secrets', { name: 'HOME_SECRET', value: 'never to be seen' });
  const upload = (await owner.post('/api/artifacts/upload-url').expect(200)).body.storageKey;
  const artifact = await createArtifact(owner);
  const { automationId } = await deployArtifact(owner);
  const tested = await owner.post('/api/test', { artifactId: artifact, inputs, wait: 0 }).expect(200);
  const runArtifact = newId('art_');
  const executor = await service.connectExecutor();
  const testJob = await executor.claim();
  await testJob?.complete({ greeting: 'tested' });
  const started = await owner.post(`/api/automations/${automationId}/run`, { inputs, wait: 0 }).expect(200);
  const job = await executor.claim();
  await job?.report(
    { type: 'started' },
    {
      type: 'artifact',
      artifactId: runArtifact,
      name: 'home.csv',
      contentType: 'text/csv',
      size: 1,
      sha256: '0'.repeat(64),
      key: `${workspaceId}/runs/${started.body.runId}/home.csv`,
    },
  );
  await job?.complete({ greeting: 'only for the home workspace' });
  await owner.get(`/api/runs/${started.body.runId}`).expect(200);

  const real = {
    upload,
    artifact,
    automation: automationId,
    run: started.body.runId,
    testRun: tested.body.testRunId,
    runArtifact,
    secret: 'HOME_SECRET',
  };
  return {
    openapiFile: openapiFiles.automation,
    url: service.url,
    pool: service.api.deps.pool,
    aliases: (documented) => [documented],
    fixtures,
    real,
    unknown: { ...createUnknownIds(real), upload: upload.replace(/[^/]+$/, newId('up_')), secret: 'NOT_A_SECRET' },
    homeWorkspaceId: workspaceId,
    home: { viewer: inHome('viewer'), member: inHome('member'), admin: inHome('admin'), owner: owner.token },
    foreign: {
      workspaceId: foreigner.workspaceId,
      personal: foreigner.token,
      workspaceToken: service.createCaller({ workspaceId: foreigner.workspaceId, userId: null }).token,
    },
    // A token that worker-api no longer knows.
    revoked: createOpaqueToken('wst_'),
    expired: service.createCaller({ workspaceId, expiresAt: Date.now() - 1 }).token,
    apiKey: createOpaqueToken('rly_'),
    credentials: {
      'a workspace token': {
        Authorization: `Bearer ${service.createCaller({ workspaceId, userId: null }).token}`,
      },
    },
    closeHome: async () => {
      // As open as it can be: to the holder of a link, and with a run that a stranger may read.
      await owner.patch(`/api/automations/${automationId}`, { visibility: 'public' }).expect(200);
      await service.api.deps.pool.query("UPDATE runs SET trigger = 'link' WHERE id = $1", [started.body.runId]);
      await service.anonymous.get(`/api/pages/${automationId}/runs/${started.body.runId}`).expect(200);
      const announcer = await startTestEventPublisher(service.nats);
      await announcer.announce(workspaceDeleted, workspaceId, { workspaceId, purgeAt: Date.now() + 1_000_000 });
      await waitUntil(() => service.api.deps.closures.has(workspaceId));
      await waitUntil(
        async () =>
          (await service.api.deps.pool.query('SELECT FROM workspace_closures WHERE workspace_id = $1', [workspaceId]))
            .rowCount,
      );
      await announcer.stop();
    },
    // Nothing of this surface makes credentials.
    limited: { expired: '', viewer: '', expiring: '', expiresAt: 0, restricted: '', admin: '' },
    restricted: {
      readonly: createRestrictedToken({ readonly: true }),
      elsewhere: createRestrictedToken({ workers: ['another-worker'], automations: ['aut_another'] }),
    },
    stop: service.stop,
  };
}

testIsolation(openapiFiles.automation, start);
