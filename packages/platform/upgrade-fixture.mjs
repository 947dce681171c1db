#!/usr/bin/env node
/**
 * Makes src/upgrade/<name>.backup: starts an older version, gives it data of every kind through its HTTP API, and backs it
 * up with the code of this checkout. src/upgrade/upgrade.test.ts restores and upgrades it.
 *
 *     git worktree add --detach ../older e802f29
 *     node packages/platform/upgrade-fixture.mjs ../older e802f29
 */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import archive from '@gantry/archive';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const [older, name] = process.argv.slice(2);
const dataDir = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-older-')), 'data');
// One slot: the run that blocks it keeps the next one in the queue.
const env = { ...process.env, GANTRY_DATA_DIR: dataDir, GANTRY_PORT: '19080', EXECUTOR_SLOTS: '1' };

const platform = spawn('npm', ['start'], { cwd: older, env, stdio: ['ignore', 'pipe', 'inherit'] });
await new Promise((resolve, reject) => {
  platform.once('exit', reject);
  platform.stdout.on('data', (chunk) => String(chunk).includes('Gantry is running') && resolve());
});
const local = JSON.parse(fs.readFileSync(path.join(dataDir, 'local.json'), 'utf8'));
const createApiClient =
  (base, token = local.token) =>
  async (method, where, body) => {
    const response = await fetch(base + where, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${text}`);
    return text && JSON.parse(text);
  };
const [worker, automation, skills] = [local.base_url, local.dashboard_url, local.skills_url].map((url) =>
  createApiClient(url),
);

const createWorker = (id, content, rest = {}) =>
  worker('POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content }], ...rest });
/** Waits until the run is there; a waiting run is queued as well, and says for what it waits. */
async function startRunAndWait(id, expectedStatus) {
  const { run_id } = await worker('POST', `/api/workers/${id}/runs`, { inputs: {} });
  for (;;) {
    const { status, waiting_for, error } = await worker('GET', `/api/runs/${run_id}`);
    if ((status === 'queued' && waiting_for ? 'waiting' : status) === expectedStatus) return;
    if (!['queued', 'running'].includes(status)) throw new Error(`the run of ${id} is ${status}: ${error}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function createAccounts() {
  const { invite_url, token } = await worker('POST', `/api/workspaces/${local.workspace_id}/members/invite`, {
    email: 'member@gantry.local',
    role: 'member',
  });
  await createApiClient(local.base_url, '')('POST', '/auth/invitations/register', {
    token: token ?? new URL(invite_url).hash.replace(/^#(token=)?/, ''),
    password: 'an older password',
    name: 'Member',
  });
  await worker('POST', `/api/workspaces/${local.workspace_id}/members/invite`, { email: 'invited@gantry.local' });
  await worker('POST', '/auth/tokens', { name: 'another' });
  await worker('POST', '/api/workspaces', { name: 'Second' });
}

async function createWorkers() {
  await worker('PUT', '/api/secrets/OLD_KEY', { value: 'open sesame' });
  await worker('POST', '/api/contexts', { name: 'style', files: [{ path: 'guide.md', content: 'Be brief.' }] });
  await worker('PUT', '/api/contexts/style/files/guide.md', { content: 'Be plain.' });
  const teller = `import os
def run(context):
    context.artifact("note.txt", b"kept")
    guide = context.step("read", lambda: open("contexts/style/guide.md").read())
    print("read the guide")
    return {"told": os.environ["OLD_KEY"][::-1], "guide": guide}
`;
  const { webhook_url } = await createWorker('teller', 'def run():\n    return {}\n', {
    secrets: ['OLD_KEY'],
    contexts: ['style'],
    trigger: 'webhook',
  });
  await worker('PUT', '/api/workers/teller/files', {
    message: 'tell',
    files: [{ path: 'main.py', content: teller }],
  });
  await worker('PATCH', '/api/workers/teller', { schedule: { cron: '0 9 1 1 *', timezone: 'Europe/Berlin' } });
  await createApiClient('', '')('POST', webhook_url, { from: 'elsewhere' });
  await startRunAndWait('teller', 'completed');
  await createWorker('breaker', 'def run():\n    return 1 / 0\n');
  await worker('POST', '/api/workers/breaker/alerts', { on: ['run.failed'], url: 'https://example.com/hook' });
  await startRunAndWait('breaker', 'failed');
  await createWorker('asker', 'def run(context):\n    return context.approve("May I?")\n');
  await startRunAndWait('asker', 'pending_approval');
}

async function createAutomations() {
  await automation('POST', '/api/secrets', { name: 'OLD_KEY', value: 'open sesame' });
  const content = Buffer.from(`import os
def run(name, context):
    context.log("greeting")
    context.artifact("note.txt", b"kept")
    return {"greeting": f"Hello, {name}!", "told": os.environ["OLD_KEY"][::-1]}
`);
  const manifest = { name: 'Greeter', inputs: ['name'], outputs: ['greeting', 'told'], secrets_needed: ['OLD_KEY'] };
  async function uploadArtifact() {
    const { uploadUrl, storageKey } = await automation('POST', '/api/artifacts/upload-url');
    const body = await archive.writeZip([{ path: 'main.py', content }]);
    await fetch(uploadUrl, { method: 'PUT', headers: { 'Content-Type': 'application/zip' }, body });
    const made = await automation('POST', '/api/artifacts', { manifest, entrypoint: 'main.py', storageKey });
    return made.artifactId;
  }
  const { automationId } = await automation('POST', '/api/deploy', {
    artifactId: await uploadArtifact(),
    schedule: '0 9 1 1 *',
    scheduleInputs: { name: 'clock' },
    visibility: 'public',
  });
  await automation('POST', `/api/automations/${automationId}/update`, {
    artifactId: await uploadArtifact(),
    message: 'again',
  });
  await automation('POST', `/api/automations/${automationId}/run`, { inputs: { name: 'Ada' } });
}

async function createSkills() {
  const body_md = '# How to greet\n\nSay hello.';
  await skills('POST', '/api/v1/skills', { slug: 'greeting', title: 'Greeting', body_md, visibility: 'public' });
  await skills('PATCH', '/api/v1/skills/greeting', { body_md: `${body_md}\n\nAnd smile.` });
  await skills('POST', '/api/v1/skills', { slug: 'private-greeting', title: 'Private', body_md });
  await skills('POST', '/api/v1/skills/private-greeting/share', { emails: ['member@gantry.local'] });
  await skills('PUT', '/api/v1/me/skills/greeting/override', { folder: 'mine' });
  await skills('POST', '/api/v1/libraries', { slug: 'manners', title: 'Manners', visibility: 'public' });
  await skills('POST', '/api/v1/libraries/manners/skills', { skill_slug: 'greeting' });
  await skills('POST', '/api/v1/api-keys', { name: 'old key' });
}

/** Last, because they do not stay for long as they are. */
async function createWaitingRuns() {
  await createWorker('sleeper', 'def run(context):\n    context.sleep(30)\n    return {"woke": True}\n');
  await startRunAndWait('sleeper', 'waiting');
  await createWorker('blocker', 'import time\ndef run():\n    time.sleep(600)\n');
  await startRunAndWait('blocker', 'running');
  await createWorker('queued', 'def run():\n    return {"ran": True}\n');
  await startRunAndWait('queued', 'queued');
}

try {
  for (const make of [createAccounts, createWorkers, createAutomations, createSkills, createWaitingRuns]) {
    process.stdout.write(`${make.name}\n`);
    await make();
  }
  const file = path.join(root, 'packages/platform/src/upgrade', `${name}.backup`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.rmSync(file, { force: true });
  const main = path.join(root, 'packages/platform/dist/backup/backup-main.js');
  const { status } = spawnSync(process.execPath, [main, 'backup', file], {
    env: { ...env, GANTRY_BACKUP_PASSPHRASE: 'of the upgrade fixture' },
    stdio: 'inherit',
  });
  process.exitCode = status;
} finally {
  const ended = new Promise((resolve) => platform.once('exit', resolve));
  platform.kill('SIGINT');
  await ended;
  fs.rmSync(path.dirname(dataDir), { recursive: true });
}
