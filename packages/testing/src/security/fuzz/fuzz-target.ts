/** A platform with one of everything in it, to be asked about. */
import { openapiFiles } from '@gantry/openapi';
import { type ApiCall, createApiClient, deployAutomation } from '../../api-client';
import { startScriptedModel } from '../../scripted-model/scripted-model';
import { type Stack, startStack } from '../../stack';
import { waitUntil } from '../../wait-until';
import { createZip } from '../../zip';
import type { FuzzOptions } from './fuzz';
import { createKnownResources } from './known-resources';
import type { FuzzedOperation } from './openapi';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by who knows them
type Json = any;

const HELLO_CODE = 'def run(who="nobody"):\n    print("hello", who)\n    return {"greeting": f"hello {who}"}\n';
const APPROVAL_CODE = 'def run(context):\n    return context.approve("May I?")["data"]\n';
const inputs = [{ name: 'who' }];

export type FuzzTarget = Omit<FuzzOptions, 'seed' | 'seconds' | 'requests' | 'from'> & {
  stack: Stack;
  /** Whether the owner's token still opens the workspace: what was asked may have taken it away. */
  isSound(): Promise<boolean>;
};

export async function startFuzzTarget(): Promise<FuzzTarget> {
  const model = await startScriptedModel();
  await model.alwaysSays({ text: 'Hello.' });
  const provider = { name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] };
  const started = await startStack({
    skillsApi: true,
    gateway: true,
    env: {
      LOG_LEVEL: 'warn',
      RATE_LIMIT_SIGN_INS_PER_MINUTE: '1000000',
      // Nothing that is asked may lead off this machine.
      PIP_NO_INDEX: '1',
      MODEL_PROVIDERS: JSON.stringify([provider]),
    },
  });
  const stack: Stack = {
    ...started,
    async stop() {
      await started.stop();
      await model.stop();
    },
  };
  try {
    return { ...(await seedStack(stack)), stack };
  } catch (err) {
    await stack.stop();
    throw err;
  }
}

async function seedStack(stack: Stack): Promise<Omit<FuzzTarget, 'stack'>> {
  const gateway = stack.gateway as NonNullable<Stack['gateway']>;
  const [worker, automation, skills] = [gateway.worker, gateway.dashboard, gateway.skills].map((url) =>
    createApiClient(url, stack.token),
  ) as [ApiCall, ApiCall, ApiCall];
  const create = async (call: ApiCall, url: string, body?: unknown): Promise<Json> => {
    const answer = await call('POST', url, body);
    if (answer.status >= 300) throw new Error(`POST ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const list = async (call: ApiCall, url: string): Promise<Json[]> => JSON.parse((await call('GET', url)).body);
  const zip = await createZip({
    'main.py': HELLO_CODE,
    'worker.json': JSON.stringify({ name: 'Zipped', entrypoint: 'main.py' }),
  });

  let webhookSecret = '';
  for (const [id, content] of [
    ['hello-worker', HELLO_CODE],
    ['asking-worker', APPROVAL_CODE],
  ]) {
    const files = [{ path: 'main.py', content }];
    const webhook = id === 'hello-worker' && { inputs, trigger: { type: 'webhook' } };
    const { webhook_secret } = await create(worker, '/api/workers', { id, name: id, files, ...webhook });
    webhookSecret ||= webhook_secret;
  }
  const { run_id: run } = await create(worker, '/api/workers/hello-worker/runs', { inputs: { who: 'fuzz' } });
  const { run_id: asking } = await create(worker, '/api/workers/asking-worker/runs', { inputs: {} });
  const approval: Json = await waitUntil(async () => (await worker('GET', `/api/runs/${asking}`)).body.approvals?.[0], {
    everyMs: 100,
  });
  const { review_url } = await create(worker, `/api/approvals/${approval.id}/link`);
  const alert = await create(worker, '/api/alerts', { on: ['run.failed'], url: 'https://hooks.example.invalid/x' });
  await create(worker, '/api/contexts', { name: 'notes', files: [{ path: 'a.txt', content: 'text' }] });
  await create(worker, '/api/secrets', { name: 'A_SECRET', value: 'never to be seen' });
  const admin = await create(worker, '/api/workspace/tokens', { name: 'admin' });
  const viewer = await create(worker, '/api/workspace/tokens', { name: 'viewer', role: 'viewer' });
  const device = await create(worker, '/api/cli-auth/devices', { client_name: 'fuzz' });
  const me = (await worker('GET', '/auth/me')).body;
  const [version] = await list(worker, '/api/workers/hello-worker/versions');

  const deployed = await deployAutomation(
    automation,
    { 'main.py': HELLO_CODE },
    { name: 'Hello', inputs, outputs: ['greeting'] },
  );
  const { runId } = await create(automation, `/api/automations/${deployed.id}/run`, { inputs: { who: 'fuzz' } });
  const { testRunId } = await create(automation, '/api/test', {
    artifactId: deployed.artifactId,
    inputs: { who: 'fuzz' },
  });
  const { storageKey } = await create(automation, '/api/artifacts/upload-url');
  await create(automation, '/api/secrets', { name: 'A_SECRET', value: 'never to be seen' });

  const skill = await create(skills, '/api/v1/skills', {
    title: 'A thing',
    body_md: '# A thing\n\nSome text.',
    visibility: 'public',
  });
  const library = await create(skills, '/api/v1/libraries', { title: 'Things', visibility: 'public' });
  await create(skills, `/api/v1/libraries/${library.slug}/skills`, { skill_slug: skill.slug });
  const tokens = (await list(worker, '/auth/tokens')).map(({ id }) => id);
  const { access_token } = await create(worker, '/auth/login', {
    email: 'owner@example.test',
    password: 'correct horse battery staple',
  });
  const jwt = { name: 'session', headers: { Authorization: `Bearer ${access_token}` } };
  const apiKey = await create(createApiClient(gateway.skills, access_token), '/api/v1/api-keys', { name: 'fuzz' });
  const sessions = (await list(createApiClient(gateway.worker, access_token), '/auth/sessions')).map(({ id }) => id);
  const keep = new Set<string>([...tokens, ...sessions, admin.id, viewer.id, apiKey.id, stack.workspaceId]);
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const owner = { name: 'owner', headers: { ...bearer(stack.token), 'X-Svc-Workspace': stack.workspaceId } };
  return {
    surfaces: [
      { name: 'worker', openapiFile: openapiFiles.worker, url: gateway.worker },
      { name: 'automation', openapiFile: openapiFiles.automation, url: gateway.dashboard },
      { name: 'skills', openapiFile: openapiFiles.skills, url: gateway.skills },
    ],
    credentials: [
      ...[owner, owner, owner, jwt],
      { name: 'workspace token', headers: bearer(admin.token) },
      { name: 'viewer', headers: bearer(viewer.token) },
      { name: 'anonymous', headers: {} },
    ],
    services: stack.metricsUrls.filter(({ service: name }) => name !== 'executor'),
    zip,
    newLogLines: createLineReader(() => stack.output()),
    spares: ({ id }) => id === 'signOutEverywhere',
    isSound: async () => (await worker('GET', `/api/workspaces/${stack.workspaceId}`)).status === 200,
    things: createKnownResources({
      keep,
      findKind: findResourceKind,
      ids: {
        worker: ['hello-worker', 'asking-worker'],
        // Made by requests from names that schemas and examples give.
        doomedWorker: ['a-thing', 'abc', 'main-py', 'morning-report', 'price-watch'],
        'worker run': [run, asking],
        approval: [approval.id],
        alert: [alert.id],
        context: ['notes'],
        doomedContext: ['a-thing', 'abc', 'price-list'],
        contextFile: ['a.txt'],
        secret: ['A_SECRET'],
        doomedSecret: ['CRM_TOKEN', 'API_KEY'],
        sha: [version.sha],
        user: [me.id ?? me.user?.id],
        workspace: [stack.workspaceId],
        webhook: [webhookSecret],
        review: [String(review_url).split('/').pop() as string],
        deviceCode: [device.device_code],
        userCode: [device.user_code],
        automation: [deployed.id],
        'automation artifact': [deployed.artifactId],
        'automation run': [runId],
        testRun: [testRunId],
        upload: [storageKey],
        skill: [skill.slug],
        library: [library.slug],
        version: ['1'],
      },
    }),
  };
}

/** Whole lines, each once. */
function createLineReader(output: () => string): () => string[] {
  let read = 0;
  return () => {
    const text = output();
    const end = text.lastIndexOf('\n') + 1;
    const lines = text.slice(read, end).split('\n').filter(Boolean);
    read = end;
    return lines;
  };
}

const KINDS: Record<string, string> = {
  worker_id: 'worker',
  parent_run_id: 'run',
  run_id: 'run',
  runId: 'run',
  artifact_id: 'artifact',
  artifactId: 'artifact',
  automation_id: 'automation',
  automationId: 'automation',
  approval_id: 'approval',
  alert_id: 'alert',
  delivery_id: 'delivery',
  session_id: 'session',
  token_id: 'token',
  invitation_id: 'invitation',
  user_id: 'user',
  workspace_id: 'workspace',
  testRunId: 'testRun',
  storageKey: 'upload',
  device_code: 'deviceCode',
  user_code: 'userCode',
  sha: 'sha',
  version: 'version',
  skill_slug: 'skill',
  library_slug: 'library',
  id: 'apiKey',
};

/** A request that ends a thing gets one that was made on the way. */
const DESTRUCTIVE_OPERATION = /^(delete|archive|leave|transfer|revoke|withdraw)/;

function findResourceKind({ surface, id, path: address }: FuzzedOperation, field: string): string | undefined {
  const kind = findResourceKindByField(surface, address, field);
  if (kind === 'workspace' && DESTRUCTIVE_OPERATION.test(id)) return 'throwaway';
  if (kind && DESTRUCTIVE_OPERATION.test(id) && /^(worker|context|secret|automation)$/.test(kind)) {
    return `doomed${kind[0]?.toUpperCase()}${kind.slice(1)}`;
  }
  return kind;
}

function findResourceKindByField(surface: string, address: string, field: string): string | undefined {
  if (field === 'id' && !address.includes('/api-keys')) return undefined;
  if (field === 'version' && surface === 'worker') return undefined;
  if (field === 'name' && address.includes('{name}')) return address.includes('/contexts') ? 'context' : 'secret';
  if (field === 'token')
    return address.includes('/webhooks/') ? 'webhook' : address.includes('/reviews/') ? 'review' : undefined;
  if (field === 'path' && address.includes('{path}')) return 'contextFile';
  if (field === 'slug' && address.includes('{slug}'))
    return /\/(libraries|l|subscriptions)\b/.test(address) ? 'library' : 'skill';
  return KINDS[field];
}
