/** Bodies whose cost no schema tells: what stands behind the operation decides it. By operation, with parts of a valid body. */

const CHECKS_BYTES = 120_000;
const PERIODIC = `${'a'.repeat(16_000)}b${'a'.repeat(16_000)}`;
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `name-${at}`);
const object = (count: number, value: unknown) => Object.fromEntries(names(count).map((name) => [name, value]));

const CHECKS: [string, unknown][] = [
  ['a check with as many keys as fit', { kind: 'contains', value: object(6_000, 1) }],
  ['a check for a text that repeats itself', { kind: 'contains', value: 'a'.repeat(CHECKS_BYTES) }],
  ['a schema with as many choices as fit', { kind: 'schema', schema: { items: { enum: names(9_000) } } }],
  ['a schema with as many alternatives as fit', { kind: 'schema', schema: { anyOf: Array(10_000).fill({}) } }],
  ['a schema of keywords that are not checked', { kind: 'schema', schema: object(90_000, 1) }],
  ['a schema of wrong schemas', { kind: 'schema', schema: { properties: object(50_000, 1) } }],
];

const forChecks = CHECKS.map(([what, check]): [string, object] => [what, { checks: [check] }]);
const twenty = (what: string, check: unknown): [string, object] => [what, { checks: Array(20).fill(check) }];
const forExamples = [...forChecks, twenty('twenty large checks', { kind: 'equal', value: object(900, 1) })];
const forSecrets: [string, object][] = [
  ['a value that repeats itself', { value: PERIODIC }],
  ['a value of which each character is escaped', { value: '"\\\u00e9'.repeat(8_000) }],
];

/** Names the difference from a valid body. */
export const COSTLY_MEANINGS: Record<string, [what: string, part: object][]> = {
  createExample: forExamples,
  updateExample: forExamples,
  setSecret: forSecrets,
  postSecret: forSecrets,
  chat: [['a message that is the beginning of secrets', { message: 'a'.repeat(99_000) }]],
  receiveWebhook: [
    ['a payload of small objects', { items: Array(90_000).fill({}) }],
    ['a payload of texts', { items: names(80_000) }],
  ],
};
