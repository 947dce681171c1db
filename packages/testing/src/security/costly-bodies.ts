/** Bodies whose cost no schema tells: what stands behind the operation decides it. By operation, with parts of a valid body. */

const CHECKS_BYTES = 120_000;
const PERIODIC = `${'a'.repeat(16_000)}b${'a'.repeat(16_000)}`;
const buildNames = (count: number): string[] => Array.from({ length: count }, (_, at) => `name-${at}`);
const buildObject = (count: number, value: unknown) =>
  Object.fromEntries(buildNames(count).map((name) => [name, value]));

const CHECKS: [string, unknown][] = [
  ['a check with as many keys as fit', { kind: 'contains', value: buildObject(6_000, 1) }],
  ['a check for a text that repeats itself', { kind: 'contains', value: 'a'.repeat(CHECKS_BYTES) }],
  ['a schema with as many choices as fit', { kind: 'schema', schema: { items: { enum: buildNames(9_000) } } }],
  ['a schema with as many alternatives as fit', { kind: 'schema', schema: { anyOf: Array(10_000).fill({}) } }],
  ['a schema of keywords that are not checked', { kind: 'schema', schema: buildObject(90_000, 1) }],
  ['a schema of wrong schemas', { kind: 'schema', schema: { properties: buildObject(50_000, 1) } }],
];

const checkBodies = CHECKS.map(([what, check]): [string, object] => [what, { checks: [check] }]);
const repeatCheck = (what: string, check: unknown): [string, object] => [what, { checks: Array(20).fill(check) }];
const exampleBodies = [
  ...checkBodies,
  repeatCheck('twenty large checks', { kind: 'equal', value: buildObject(900, 1) }),
];
const secretBodies: [string, object][] = [
  ['a value that repeats itself', { value: PERIODIC }],
  ['a value of which each character is escaped', { value: '"\\\u00e9'.repeat(8_000) }],
];

/** Names the difference from a valid body. */
export const COSTLY_BODY_PARTS: Record<string, [what: string, part: object][]> = {
  createExample: exampleBodies,
  updateExample: exampleBodies,
  setSecret: secretBodies,
  postSecret: secretBodies,
  chat: [['a message that is the beginning of secrets', { message: 'a'.repeat(99_000) }]],
  receiveWebhook: [
    ['a payload of small objects', { items: Array(90_000).fill({}) }],
    ['a payload of texts', { items: buildNames(80_000) }],
  ],
};
