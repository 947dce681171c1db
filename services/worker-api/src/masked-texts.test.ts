import { maskingStream, maskOf } from './masked-texts';

const SECRETS = ['value-to-keep-4711', 'keep-4711-and-more', 'aaaaaaaab', 'p@ss word/9'];
const TEXTS = [
  'It was value-to-keep-4711, and value-to-keep-471 is another.',
  'value-to-keep-4711-and-more',
  'aaaaaaaaaaaab aaaaaaaa',
  `${encodeURIComponent('p@ss word/9')} ${Buffer.from('p@ss word/9').toString('base64')}`,
  'nothing 😀 of it',
];

function inPieces(text: string, cuts: number[]): string[] {
  const stream = maskingStream(SECRETS);
  const ends = [...cuts, text.length];
  return [...ends.map((end, at) => stream.push(text.slice(ends[at - 1] ?? 0, end))), stream.end()];
}

test.each(TEXTS)('%j is masked alike wherever it is cut', (text) => {
  const whole = maskOf(SECRETS)(text);
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
  const stream = maskingStream(SECRETS);
  expect(stream.push('nothing of i')).toBe('nothing of i');
  expect(stream.push('t, v')).toBe('t, ');
  expect(stream.push('ase')).toBe('vase');
  expect(stream.push('\ud83d')).toBe('');
  expect(stream.push('\ude00')).toBe('😀');
});
