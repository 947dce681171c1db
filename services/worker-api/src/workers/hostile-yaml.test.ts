/**
 * YAML that costs its parser the most, wherever a worker of an agent is written: nothing parses it on the event loop.
 */
import { createZip, measureLongestTurn, setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { testWorkerApi } from '../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
/** Bounds of the manifest in a bundle, and of a text in a draft. */
const CHARS = 390_000;

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const SKILL = { path: 'SKILL.md', content: '# Sort\n\nSort the mail.\n' };

beforeAll(() => owner.post('/api/workers', { name: 'Sorter', runner: 'agent', files: [SKILL] }).expect(201));

const fill = (unit: string, [open, close] = ['', '']) =>
  `name: ${open}${unit.repeat((CHARS - 1_000) / unit.length)}${close}`;
const laughs = (levels: number) =>
  Array.from({ length: levels }, (_, at) => `a${at}: &a${at} [${at ? `*a${at - 1}, *a${at - 1}` : 'ha, ha'}]`).join(
    '\n',
  );

const YAMLS: [string, string, RegExp][] = [
  ['a billion laughs', laughs(30), /more than 20 aliases/],
  [
    'laughs with few aliases',
    `- &a [${'1,'.repeat(4_000)}1]\n${'- *a\n'.repeat(20)}`,
    /more than 20000 values with all aliases expanded/,
  ],
  ['an alias of itself', 'name: &a [*a]', /no anchor "a" before this alias/],
  ['nested lists', fill('['), /nested deeper than 64 levels/],
  ['nested maps', fill('{a: '), /nested deeper than 64 levels/],
  ['nested keys', fill('? '), /nested deeper than 64 levels/],
  ['lines', fill('\n'), /more than 60000 tokens/],
  ['a huge key', `${'k'.repeat(CHARS - 1_000)}: 1`, /at most 1024 chars/],
  ['a huge quoted key', `"${'\\x6b'.repeat((CHARS - 1_000) / 4)}": 1`, /at most 1024 chars/],
  ['many keys', Array.from({ length: 30_000 }, (_, at) => `k${at}: 1`).join('\n'), /more than 60000 tokens/],
  ['tags', fill('!!binary '), /more than 60000 tokens/],
  ['merges', `a: &a {b: 1}\n${'<<: *a\n'.repeat(10)}`, /the key "<<" appears twice/],
  ['__proto__', 'name: a\n__proto__: { polluted: true }', /__proto__: unknown property/],
];

interface Request {
  path: string;
  method: string;
  body: FormData | string;
}

async function sendInShortTurns({ path, method, body }: Request) {
  const headers = {
    authorization: `Bearer ${api.owner.jwt}`,
    ...(typeof body === 'string' && { 'content-type': 'application/json' }),
  };
  let answer = { status: 0, text: '' };
  const blockedMs = await measureLongestTurn(async () => {
    const response = await fetch(api.url + path, { method, headers, body });
    answer = { status: response.status, text: await response.text() };
  }, BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  return answer;
}

test.each(YAMLS)('a bundle of an agent with %s is refused', async (_, yaml, problem) => {
  const zip = await createZip({ 'worker.yaml': yaml, [SKILL.path]: SKILL.content });
  const targets: [string, string][] = [
    ['POST', '/api/workers'],
    ['PUT', '/api/workers/sorter'],
  ];
  for (const [method, path] of targets) {
    const body = new FormData();
    body.append('bundle', new Blob([new Uint8Array(zip)]), 'worker.zip');
    const { status, text } = await sendInShortTurns({ path, method, body });
    expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringMatching(problem)]);
  }
});

const ROUTES: [string, (draft: object) => object, string][] = [
  ['/api/workers/inspect', (draft) => ({ worker_id: 'sorter', draft }), 'draft.files.0.path'],
  ['/api/workers/sorter/test', (draft) => ({ draft }), 'draft.files.0.path'],
  ['/api/workers/sorter/candidates', (draft) => draft, 'files.0.path'],
];

test.each(ROUTES)('%s refuses a manifest among the files without reading it', async (path, toBody, place) => {
  for (const [, yaml] of YAMLS) {
    const body = JSON.stringify(toBody({ files: [{ path: 'worker.yaml', content: yaml }] }));
    const { status, text } = await sendInShortTurns({ path, method: 'POST', body });
    expect([status, JSON.parse(text).errors]).toEqual([
      400,
      [{ path: place, message: expect.stringContaining("change the worker's fields instead") }],
    ]);
  }
});

test.each(ROUTES)('%s accepts YAML at the head of a skill as text, up to its limit', async (path, toBody) => {
  for (const [, yaml] of YAMLS) {
    const content = `---\n${yaml}\n---\n# Sort\n`;
    const body = JSON.stringify(toBody({ files: [{ path: SKILL.path, content }] }));
    const { status, text } = await sendInShortTurns({ path, method: 'POST', body });
    if (content.length <= 40_000)
      expect([status, text]).toEqual([path.endsWith('inspect') ? 200 : 201, expect.anything()]);
    else expect(text).toContain(`bytes; the limit is 40000 bytes`);
  }
});

test('a skill is not inspected as code', async () => {
  const inspect = async (content: string) => {
    const draft = { files: [{ path: SKILL.path, content }] };
    return (await owner.post('/api/workers/inspect', { worker_id: 'sorter', draft }).expect(200)).body.problems;
  };
  expect(await inspect('# Sort\n\nIt isn’t Python: def run(:\n')).toEqual([]);
  expect(await inspect('a'.repeat(40_001))).toMatchObject([{ severity: 'error', code: 'bad_entrypoint' }]);
});
