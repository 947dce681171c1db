import { createMaskingStream, maskAndTruncate, maskStrings, maskTruncated } from './mask-strings';
import { createRedactor } from './redact';
import { MASK } from './replacing-stream';

const SECRETS = ['value-to-keep-4711', 'keep-4711-and-more', 'aaaaaaaab', 'p@ss word/9'];
const redactor = createRedactor(SECRETS);
const TEXTS = [
  'It was value-to-keep-4711, and value-to-keep-471 is another.',
  'value-to-keep-4711-and-more',
  'aaaaaaaaaaaab aaaaaaaa',
  `${encodeURIComponent('p@ss word/9')} ${Buffer.from('p@ss word/9').toString('base64')}`,
  'nothing 😀 of it',
];

function pushInPieces(text: string, cuts: number[]): string[] {
  const stream = createMaskingStream(redactor);
  const ends = [...cuts, text.length];
  return [...ends.map((end, at) => stream.push(text.slice(ends[at - 1] ?? 0, end))), stream.end()];
}

test.each(TEXTS)('%j is masked alike wherever it is cut', (text) => {
  const whole = redactor.text(text);
  for (let one = 0; one <= text.length; one++) {
    for (let other = one; other <= text.length; other++) {
      expect(pushInPieces(text, [one, other]).join('')).toBe(whole);
    }
  }
  const letters = pushInPieces(
    text,
    Array.from({ length: text.length }, (_, at) => at + 1),
  );
  expect(letters.join('')).toBe(whole);
});

test('text that cannot be a secret is not held back; half a character is', () => {
  const stream = createMaskingStream(createRedactor(['value-to-keep-4711']));
  expect(stream.push('nothing of i')).toBe('nothing of i');
  expect(stream.push('t, v')).toBe('t, ');
  expect(stream.push('ase')).toBe('vase');
  expect(stream.push('\ud83d')).toBe('');
  expect(stream.push('\ude00')).toBe('😀');
});

test('a value of any size is masked whole without blocking the event loop', async () => {
  const secret = 'aaaaaaaab';
  const long = `${'a'.repeat(200_000)}b and ${secret}`;
  const value = { [secret]: [long, 1, null, ...Array.from({ length: 20_000 }, () => ({ b: true }))] };
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const masked = await maskStrings(redactor, value, (text) => text.slice(-20));
  clearImmediate(timer);
  const [text, ...others] = (masked as Record<string, unknown[]>)[MASK] ?? [];
  expect(text).toBe('aaaaaaaaa*** and ***');
  expect(others).toEqual(value[secret]?.slice(1));
  expect(turns).toBeGreaterThan(5);
});

const KEY = 'sk-live/4711+0815=of-"the"-team\\and more';
const ENCODED: [string, string][] = [
  ['plain', KEY],
  ['percent-encoded', encodeURIComponent(KEY)],
  ['base64', Buffer.from(KEY).toString('base64')],
  ['hex', Buffer.from(KEY).toString('hex')],
  ['escaped in JSON', JSON.stringify(KEY)],
];

test.each(ENCODED)('a text that was cut inside a secret reveals nothing of it: %s', (_, form) => {
  const keys = createRedactor([KEY]);
  for (let end = 4; end < form.length; end++) {
    // Alone, a quotation mark is none of the secret.
    expect(maskTruncated(keys, `It is ${form.slice(0, end)}`)).toMatch(/^It is "?$/);
    // The secret begins where a text of that length would be cut, and again where the search ends.
    const shown = maskAndTruncate(keys, `It is ${form} ${'and so on '.repeat(3)}${form}`.repeat(20), 6 + end);
    expect(shown).toMatch(/^It is "?([*]{3}|…)/);
    for (let at = 0; at + 6 <= form.length; at++) expect(shown).not.toContain(form.slice(at, at + 6));
  }
});

test('a text without secrets is cut at the limit, and a short one is not', () => {
  const keys = createRedactor([KEY]);
  expect(maskAndTruncate(keys, 'short', 5)).toBe('short');
  expect(maskAndTruncate(keys, 'longer', 5)).toBe('longe…');
  expect(maskAndTruncate(keys, 'x'.repeat(1_000), 5)).toBe('xxxxx…');
});
