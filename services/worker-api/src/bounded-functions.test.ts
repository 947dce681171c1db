/**
 * Runs each function whose cost members, models and remote servers decide, with the worst input that can reach it: none
 * blocks the event loop, which serves every caller, for longer than 50 ms. A function joins the list when
 * `packages/testing/src/nested-scans` finds a scan in a loop of it that no comment `Bounded: …` limits to about a
 * million steps, and names its entry in a comment `Measured: …`.
 */
import { isDeeperThan } from '@gantry/http';
import { createMaskingStream, createRedactor, maskStrings } from '@gantry/masking';
import type { Sql } from '@gantry/postgres';
import type { ListedRun } from '@gantry/run-engine';
import { measureLongestTurn, setupResource } from '@gantry/testing';
import type { AuditRow } from './audit/audit-entry';
import { EXPORT_BATCH, rowToCsv } from './audit/audit-routes';
import { conversationToApi } from './chat/conversation';
import type { ConversationRow } from './chat/conversation-repository';
import { buildMessages } from './chat/messages';
import type { Part, Turn } from './chat/turn-repository';
import { listArgumentProblems } from './connection-tools/check-arguments';
import { formatNameSuggestions } from './connection-tools/nearest-names';
import { maskErrorText, maskPrefix } from './connections/mask-request';
import type { McpServer, McpTool } from './connections/mcp-client-types';
import { groupByName, listConnectionProblems, type UsableConnection } from './connections/usable-connections';
import { parseChecks } from './examples/check';
import { createCachingClient } from './mcp-client/caching-client';
import { createBoundedFetch } from './models/bounded-events';
import { createEventMeter } from './models/event-meter';
import { parseValue } from './models/json-output';
import { estimateInputTokens } from './models/read-model-response';
import { createOutcomeJudge } from './rehearsals/outcome-judge';
import { runToCsv } from './runs/run-export';
import { createMasking } from './secrets/masking';
import { compareVersions } from './workers/compare-versions';
import { type Definition, parseDefinition } from './workers/definition';
import { createManifestParser } from './workers/manifests';
import { parseNewWorker } from './workers/worker-input';

const BLOCKED_MS_MAX = 50;

const judge = setupResource(
  async () => createOutcomeJudge({ warn: () => {} }, { taskMs: 120_000 }),
  (one) => one.stop(),
);
const masking = setupResource(
  async () => createMasking(),
  (one) => one.stop(),
);
const manifests = setupResource(
  async () => createManifestParser({ taskMs: 120_000 }),
  (one) => one.stop(),
);

const buildNames = (count: number, prefix = 'name') => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
const buildObject = (count: number, value: unknown = 1) =>
  Object.fromEntries(buildNames(count).map((name) => [name, value]));
const nestArrays = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const buildSecrets = (count: number, chars: number) =>
  buildNames(count, 'secret').map((name) => name.padEnd(chars, `${name}/+"`));
/** Makes a matcher that compares letter by letter start again at each letter. */
const PERIODIC = [1, 2, 3].map((at) => `${'a'.repeat(16_000 + at)}b${'a'.repeat(16_000)}`);
const periodic = createRedactor(PERIODIC);
const LETTERS = 'a'.repeat(99_000);

const TURN = { id: 't', message: LETTERS, status: 'running', endedAt: null } as Turn;
const PARTS = Array.from(
  { length: 400 },
  (_, number): Part => ({
    kind: 'call',
    turnId: 't',
    number,
    callId: `c${number}`,
    status: 'done',
    links: null,
    result: LETTERS,
    content: { modelCallId: `m${number}`, name: 'list', title: 'List', arguments: buildObject(50), workerId: null },
  }),
);

/** A page of messages, each with 25 answers of 20 calls. */
const turns = buildNames(50).map((id) => ({ ...TURN, id, message: 'a', createdAt: new Date() }));
const shortParts = turns.flatMap(({ id }) =>
  PARTS.concat(PARTS.slice(0, 125)).map((one) => ({ ...one, turnId: id, result: 'a' })),
);
const conversation = { createdAt: new Date(), updatedAt: new Date() } as ConversationRow;
/** The connections of a workspace, and a page of workers that declare a hundred each. */
const connections = buildNames(500).map(
  (id) => ({ id, app: 'app', hosts: ['a'], visibility: 'private', ownerId: 'o' }) as UsableConnection,
);
const owners = buildNames(200).map(() => ({ visibility: 'workspace', ownerId: 'o' }) as const);
const findProblems = () => {
  const byName = groupByName(connections);
  return owners.flatMap((owner) => listConnectionProblems(owner, ['app', ...buildNames(100)], byName));
};

async function readStream(text: string): Promise<void> {
  const send = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const response = await createBoundedFetch(send, true)('http://provider.test/');
  // A response over a limit is rejected.
  await response.text().catch(() => {});
}
const REQUEST = { system: '', tools: {}, signal: new AbortController().signal, onText: () => {} };
const buildAnyOfSchema = (count: number, schema: object) => ({ anyOf: Array.from({ length: count }, () => schema) });
const choices = { enum: [...buildNames(20_000), { a: 1 }] };
const buildOutcome = (output: string) => ({
  ...{ status: 'completed' as const, error: null, unrecorded: null, durationMs: 1, costUsd: 0 },
  output: { json: Buffer.from(output) },
});
const checkValue = (value: object, chars: number) =>
  judge.check(
    {
      checks: [{ kind: 'equal' as const, value }],
      maxDurationSeconds: null,
      maxCostUsd: null,
      outcome: buildOutcome(JSON.stringify({ text: 'x'.repeat(chars) })),
    },
    { evaluationId: 'eval_1', runId: 'run_1' },
  );
const fillLargest = (unit: string) => `[${unit.repeat(Math.floor(8_000_000 / unit.length))}0]`;
const compareOutputs = (was: string, now: string) =>
  judge.compare(
    { recorded: buildOutcome(was), rehearsed: buildOutcome(now), base: buildOutcome(was) },
    { candidateId: 'cnd_1' },
  );
/** A server with a tool list as large as a response may be. */
const listTools = (tools: McpTool[], headers: Record<string, string>) =>
  createCachingClient(
    { listTools: async () => tools, callTool: () => Promise.reject(new Error('not called')) },
    {
      sql: { query: () => Promise.reject(new Error('not stored')) } as unknown as Sql,
      masking,
      now: () => new Date(),
    },
  ).listTools({ headers } as unknown as McpServer);
/** The longest headers that a connection may have, of the characters with the longest encodings. */
const LARGEST_HEADERS = Object.fromEntries(
  buildNames(20).map((name) => [name, `Bearer ${name}`.padEnd(8_192, '"\\/+')]),
);

const parseYaml = (unit: string, [open, close] = ['', '']) => {
  const text = `a: ${open}${unit.repeat(500_000 / unit.length)}${close}`;
  return manifests.parse('worker.yaml', Buffer.from(text));
};
const ENDED = {
  error: { message: '"\n'.repeat(500), code: 'user_error' },
  createdAt: new Date(),
} as unknown as ListedRun;
const ENTRY = { details: { before: '"\n'.repeat(1_000), after: LETTERS.slice(0, 2_000) } } as unknown as AuditRow;
const buildVersion = (sha: string) => ({
  definition: {
    ...parseDefinition({}),
    inputs: buildNames(9_000).map((name) => ({ name, sha })),
  } as unknown as Definition,
  files: buildNames(500).map((path) => ({ path, size: 1, sha })),
});
const parseFields = (fields: object) => expect(() => parseNewWorker({ name: 'A', ...fields }, () => [])).toThrow();

const FUNCTIONS: [string, () => unknown][] = [
  [
    'listArgumentProblems: many choices',
    () => listArgumentProblems({ properties: { a: { items: choices } } }, { a: buildNames(20_000, 'x') }),
  ],
  [
    'listArgumentProblems: many alternatives',
    () => listArgumentProblems(buildAnyOfSchema(20_000, { required: buildNames(10) }), buildObject(5_000, LETTERS)),
  ],
  [
    'listArgumentProblems: long texts, counted for each alternative',
    () =>
      listArgumentProblems(
        { properties: { a: buildAnyOfSchema(5_000, { maxLength: 1 }) } },
        { a: 'a'.repeat(1_000_000) },
      ),
  ],
  [
    'listArgumentProblems: large values among choices',
    () =>
      listArgumentProblems(
        { properties: { a: buildAnyOfSchema(500, choices) } },
        { a: buildObject(10_000, { b: [1, 2, 3] }) },
      ),
  ],
  ['parseValue: many levels', () => parseValue(nestArrays(200_000), { items: {} })],
  ['parseValue: many items', () => parseValue(`[${'{},'.repeat(99_000)}{}]`, { items: { required: buildNames(100) } })],
  ['isDeeperThan', () => isDeeperThan(JSON.parse(`[${'[[]],'.repeat(80_000)}[]]`), 64)],
  [
    'parseChecks: unknown keywords',
    () => expect(() => parseChecks([{ kind: 'schema', schema: buildObject(9_000) }])).toThrow(),
  ],
  [
    'parseChecks: many schemas',
    () => parseChecks([{ kind: 'schema', schema: { properties: buildObject(6_000, {}) } }]),
  ],
  ['formatNameSuggestions', () => formatNameSuggestions('a-b'.repeat(500_000), buildNames(1_000))],
  ['redactorFor: ordinary secrets', () => masking.redactorFor(buildSecrets(480, 60))],
  ['redactorFor: the largest secrets', () => masking.redactorFor(PERIODIC)],
  ['redactorFor: few secrets', () => masking.redactorFor(buildSecrets(8, 64))],
  ['maskStrings: a text that is almost secrets', () => maskStrings(periodic, [LETTERS, LETTERS, LETTERS])],
  ['maskStrings: a long text', () => maskStrings(periodic, 'a'.repeat(2_000_000))],
  [
    'maskStrings: many values',
    () =>
      maskStrings(
        periodic,
        Array.from({ length: 30_000 }, () => ({ b: true })),
      ),
  ],
  [
    'maskErrorText: words that are almost secrets',
    () =>
      maskErrorText(
        'a'.repeat(4_000),
        PERIODIC.map((one) => one.slice(14_500, 17_500)),
      ),
  ],
  ['OutcomeJudge.compare: many equal values', () => compareOutputs(fillLargest('1,'), fillLargest('1,'))],
  ['OutcomeJudge.compare: many keys', () => compareOutputs(fillLargest('{"a":{}},'), fillLargest('{"b":{}},'))],
  ['OutcomeJudge.compare: many levels', () => compareOutputs(nestArrays(3_000), nestArrays(3_001))],
  [
    'createCachingClient: long texts',
    () =>
      listTools(
        buildNames(60).map((name) => ({
          name,
          description: LETTERS.slice(0, 20_000),
          inputSchema: { type: 'object', title: LETTERS },
        })),
        { authorization: `Bearer ${PERIODIC[0]?.slice(12_000, 20_000)}` },
      ).catch(() => {}),
  ],
  ['createCachingClient: the largest headers', () => listTools([], LARGEST_HEADERS).catch(() => {})],
  ['maskPrefix: long values', () => maskPrefix('a'.repeat(2_000_000), PERIODIC, 300)],
  ['maskErrorText: a long text', () => maskErrorText('a'.repeat(2_000_000), PERIODIC)],
  ['createMaskingStream', () => createMaskingStream(periodic).push(LETTERS)],
  ['buildMessages', () => buildMessages([TURN], PARTS)],
  ['buildMessages: many messages', () => buildMessages(turns, shortParts)],
  ['conversationToApi', () => conversationToApi(conversation, turns, shortParts)],
  ['listConnectionProblems: a page of workers', findProblems],
  ['estimateInputTokens', () => estimateInputTokens({ ...REQUEST, messages: buildMessages([TURN], PARTS) })],
  ['createBoundedFetch: empty events', () => readStream('data: {}\n\n'.repeat(3_000))],
  ['createBoundedFetch: empty lines', () => readStream('\n'.repeat(10_000))],
  ['createBoundedFetch: a long line', () => readStream(`data: ${'a'.repeat(4_000_000)}\n\n`)],
  ['createBoundedFetch: large events', () => readStream(`data: "${'a'.repeat(400_000)}"\n\n`.repeat(5))],
  ['createEventMeter: many values', () => expect(() => createEventMeter()(`[${'0,'.repeat(250_000)}0]`)).toThrow()],
  ['createEventMeter: many levels', () => expect(() => createEventMeter()(nestArrays(250_000))).toThrow()],
  ['createEventMeter: one large text', () => createEventMeter()(JSON.stringify({ content: 'a'.repeat(500_000) }))],
  ['OutcomeJudge.check: the largest output', () => checkValue({ text: 'y' }, 8_000_000)],
  ['OutcomeJudge.check: the largest check', () => checkValue(buildObject(8_000), 10)],
  ['createManifestParser: tags', () => parseYaml('!!binary ')],
  ['createManifestParser: timestamps', () => parseYaml('\n- 2020-01-01T00:00:00Z')],
  ['createManifestParser: numbers', () => parseYaml('1.5e10,', ['[', '0]'])],
  ['createManifestParser: unknown escapes', () => parseYaml('"\\q",', ['[', '0]'])],
  [
    'createManifestParser: aliases',
    () => manifests.parse('worker.yaml', Buffer.from(`- &a [${'1,'.repeat(900)}1]\n${'- *a\n'.repeat(20)}`)),
  ],
  ['createManifestParser: JSON', () => manifests.parse('worker.json', Buffer.from(`[${'0,'.repeat(250_000)}0]`))],
  [
    'createManifestParser: the largest definition',
    () => manifests.format({ inputs: buildNames(9_000), output: buildObject(9_000) }),
  ],
  ['runToCsv: a batch of long errors', () => Array.from({ length: 1_000 }, () => runToCsv(ENDED)).join('')],
  ['rowToCsv: a batch of long details', () => Array.from({ length: EXPORT_BATCH }, () => rowToCsv(ENTRY)).join('')],
  ['compareVersions: the largest ones', () => compareVersions(buildVersion('a'), buildVersion('b'))],
  ['parseNewWorker: unknown fields', () => parseFields(buildObject(20_000))],
  [
    'parseNewWorker: many of each',
    () => parseFields({ tags: buildNames(10_000), triggers: buildNames(10_000), inputs: buildNames(9_000) }),
  ],
  ['parseNewWorker: many secrets', () => parseFields({ secrets: buildNames(10_000), expose: buildNames(9_000) })],
  ['parseNewWorker: backslashes', () => parseFields({ output: { a: '\\'.repeat(120_000) } })],
];

test.each(FUNCTIONS)('%s', async (_, work) => {
  // Warm up: compiling and loading do not count.
  await work();
  const blockedMs = await measureLongestTurn(work, BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
});

test('a function that blocks for longer is detected', async () => {
  const compareEach = () =>
    buildNames(12_000).filter((one, _, all) => all.filter((other) => `${other}` === one).length > 1);
  const blockedMs = await measureLongestTurn(compareEach, BLOCKED_MS_MAX);
  expect(blockedMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(BLOCKED_MS_MAX);
});
