import { createRedactor, MASK } from '@gantry/masking';
import { maskTexts, openTextStream } from './masked-texts';

const SECRETS = ['value-to-keep-4711', 'keep-4711-and-more', 'aaaaaaaab', 'p@ss word/9'];
const redactor = createRedactor(SECRETS);
const TEXTS = [
  'It was value-to-keep-4711, and value-to-keep-471 is another.',
  'value-to-keep-4711-and-more',
  'aaaaaaaaaaaab aaaaaaaa',
  `${encodeURIComponent('p@ss word/9')} ${Buffer.from('p@ss word/9').toString('base64')}`,
  'nothing 😀 of it',
];

function inPieces(text: string, cuts: number[]): string[] {
  const stream = openTextStream(redactor);
  const ends = [...cuts, text.length];
  return [...ends.map((end, at) => stream.push(text.slice(ends[at - 1] ?? 0, end))), stream.end()];
}

test.each(TEXTS)('%j is masked alike wherever it is cut', (text) => {
  const whole = redactor.text(text);
  for (let one = 0; one <= text.length; one++) {
    for (let other = one; other <= text.length; other++) {
      expect(inPieces(text, [one, other]).join('')).toBe(whole);
    }
  }
  const letters = inPieces(
    text,
    Array.from({ length: text.length }, (_, at) => at + 1),
  );
  expect(letters.join('')).toBe(whole);
});

test('what cannot be a secret is not held back, and half a character is', () => {
  const stream = openTextStream(createRedactor(['value-to-keep-4711']));
  expect(stream.push('nothing of i')).toBe('nothing of i');
  expect(stream.push('t, v')).toBe('t, ');
  expect(stream.push('ase')).toBe('vase');
  expect(stream.push('\ud83d')).toBe('');
  expect(stream.push('\ude00')).toBe('😀');
});

test('a value of any size is masked whole, and others have their turn meanwhile', async () => {
  const secret = 'aaaaaaaab';
  const long = `${'a'.repeat(200_000)}b and ${secret}`;
  const value = { [secret]: [long, 1, null, ...Array.from({ length: 20_000 }, () => ({ b: true }))] };
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const masked = await maskTexts(redactor, value, (text) => text.slice(-20));
  clearImmediate(timer);
  const [text, ...others] = (masked as Record<string, unknown[]>)[MASK] ?? [];
  expect(text).toBe('aaaaaaaaa*** and ***');
  expect(others).toEqual(value[secret]?.slice(1));
  expect(turns).toBeGreaterThan(5);
});
