/** Types the commands of docs/first-worker.md against a platform that is already running. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

const WALKTHROUGH = path.resolve(import.meta.dirname, '../../../../docs/first-worker.md');

/** The commands of both journeys. Left out is the sample of `npm start`, which no other installation has. */
function commands({ base, dashboard }) {
  const walkthrough = fs.readFileSync(WALKTHROUGH, 'utf8');
  const blocks = [...walkthrough.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
  return blocks
    .filter((block) => !block.includes('expense-review'))
    .join('\n')
    .replaceAll('http://localhost:8080', base)
    .replaceAll('http://localhost:8081', dashboard);
}

/** @returns what they print. @throws Error if one of them fails, or a line of it that matters is not there */
export async function runWalkthrough({ base, dashboard, token }) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'walkthrough-'));
  fs.mkdirSync(path.join(dir, '.data'));
  fs.writeFileSync(path.join(dir, '.data/local.json'), JSON.stringify({ token }));
  const options = { cwd: dir, stdio: ['pipe', 'pipe', 'inherit'] };
  const shell = spawn('bash', ['-eu', '-o', 'pipefail'], options);
  const ended = once(shell, 'close');
  shell.stdin.end(commands({ base, dashboard }));
  const printed = await text(shell.stdout);
  const [code] = await ended;
  fs.rmSync(dir, { recursive: true });
  if (code !== 0) throw new Error(`a line of docs/first-worker.md ended with ${code}, after:\n${printed}`);
  for (const expected of EXPECTED) {
    if (!printed.includes(expected))
      throw new Error(`docs/first-worker.md did not print ${JSON.stringify(expected)}:\n${printed}`);
  }
  return printed;
}

const EXPECTED = [
  '"output":{"words":4}',
  '"status":"completed"}',
  '"status":"queued","run_id"',
  '"timezone":"Europe/Berlin"',
  '\ndivision by zero\n',
  '"type":"run.failed"',
  ',exception,division by zero,',
  '"greeting":"Hello, Ada!"',
  'the key has 11 characters',
  '"greeting":"Hello, Test!"',
];

/** Makes the owner of a new installation by the link that it prints. @returns a token of theirs */
export async function becomeOwner({ base, setupToken, email = 'owner@example.com' }) {
  const call = async (place, body, bearer) => {
    const answer = await fetch(`${base}${place}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(bearer && { Authorization: `Bearer ${bearer}` }) },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`POST ${place} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const account = { setup_token: setupToken, email, password: 'a few words of my own' };
  const { access_token } = await call('/auth/setup', account);
  return (await call('/auth/tokens', { name: 'test' }, access_token)).token;
}
