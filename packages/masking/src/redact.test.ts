import { createPreparedRedactor, createRedactor, prepareSecrets } from './redact';
import { MASK } from './replacing-stream';

const SECRET = 'p4ss/w+rd "ä" ~?>';

test('a value is masked in every form in which it is likely to be printed', () => {
  const { text } = createRedactor([SECRET]);
  const bytes = Buffer.from(SECRET);
  const forms = [
    SECRET,
    JSON.stringify(SECRET).slice(1, -1),
    encodeURIComponent(SECRET),
    encodeURIComponent(SECRET).replaceAll('%20', '+'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    'p4ss/w+rd \\"\\u00e4\\" ~?>',
  ];
  for (const form of forms) expect(text(`<${form}>`)).toBe(`<${MASK}>`);
});

test.each([0, 1, 2, 3, 4])('inside a longer base64 text, %s bytes in, none of it is readable', (before) => {
  const { text } = createRedactor(['correct horse battery']);
  const encoded = Buffer.from(`${'x'.repeat(before)}correct horse battery, and more`).toString('base64');
  const masked = text(encoded);
  expect(masked).toContain(MASK);
  expect(Buffer.from(masked.replace(MASK, ''), 'base64').toString()).not.toMatch(/orrect|horse|batter/);
});

test('values under four bytes are left alone, and so is everything without secrets', () => {
  expect(createRedactor(['abc', '']).text('abc')).toBe('abc');
  const { push, end } = createRedactor([]).stream();
  expect(push(Buffer.from('any')).toString() + end().toString()).toBe('any');
});

test('the result is the same for every way of cutting the stream', () => {
  const secrets = ['abab', 'ababcab', 'bcabX', 'secret-value', 'et-va', 'zzzz'];
  const redactor = createRedactor(secrets);
  const input = Buffer.from('xababababcabXabab secret-valueé zz zzz zzzzz secret-valu aba');
  const whole = redactor.text(input.toString());
  for (const secret of secrets) expect(whole).not.toContain(secret);
  const maskInPieces = (cuts: number[]) => {
    const stream = redactor.stream();
    const parts = [...cuts, input.length].map((end, i) => stream.push(input.subarray(cuts[i - 1] ?? 0, end)));
    return Buffer.concat([...parts, stream.end()]).toString();
  };
  for (let a = 0; a <= input.length; a++) {
    for (let b = a; b <= input.length; b++) expect(maskInPieces([a, b])).toBe(whole);
  }
  expect(maskInPieces(Array.from({ length: input.length }, (_, i) => i))).toBe(whole);
});

test('matches that overlap are masked together, so that no end of one shows', () => {
  expect(createRedactor(['abcdef', 'defghi']).text('<abcdefghi>')).toBe('<***>');
});

test('text that can no longer become a secret is emitted at once', () => {
  const stream = createRedactor(['secret']).stream();
  expect(stream.push(Buffer.from('hello sec')).toString()).toBe('hello ');
  expect(stream.push(Buffer.from('ond')).toString()).toBe('second');
  expect(stream.push(Buffer.from(' secre')).toString()).toBe(' ');
  expect(stream.end().toString()).toBe('secre');
});

test('strings and keys inside JSON are masked, other values kept', () => {
  const { json } = createRedactor(['hunter22']);
  expect(json({ a: ['hunter22!', 1, null, true], hunter22: { b: 'x hunter22' } })).toEqual({
    a: [`${MASK}!`, 1, null, true],
    [MASK]: { b: `x ${MASK}` },
  });
});

test('a numeric secret is masked where code parsed it as a number, and not inside a longer number', () => {
  const { json } = createRedactor(['48213977', '0012345']);
  expect(json({ pin: 48213977, bill: 148213977, other: 12345 })).toEqual({ pin: MASK, bill: 148213977, other: 12345 });
});

test('a secret of 32 KB and twenty others cost little on a flood of output', () => {
  const secrets = [
    'k'.repeat(32 * 1024),
    ...Array.from({ length: 20 }, (_, i) => `secret-number-${i}-${'y'.repeat(20)}`),
  ];
  const stream = createRedactor(secrets).stream();
  const chunk = Buffer.from('an ordinary line of output with some k and s in it\n'.repeat(1_300));
  let bytes = 0;
  for (let i = 0; i < 30; i++) bytes += stream.push(chunk).length;
  expect(bytes + stream.end().length).toBe(chunk.length * 30);
});

test('output made to look like the beginning of a secret is read in linear time', () => {
  const secret = `${'a'.repeat(1 << 20)}b`;
  const stream = createRedactor([secret]).stream();
  for (let i = 0; i < 200_000; i++) stream.push(Buffer.from('aaaa'));
  stream.end();
  // Comparing anew at each byte would take hours.
});

test('secrets prepared in another thread mask alike', () => {
  const there = structuredClone(prepareSecrets([SECRET, '48213977']));
  const { text, json } = createPreparedRedactor(there);
  expect(json([48213977, text(`${SECRET} ${encodeURIComponent(SECRET)}`)])).toEqual([MASK, `${MASK} ${MASK}`]);
  expect(createPreparedRedactor(prepareSecrets(['abc'])).text('abc')).toBe('abc');
});

test('values that begin with every byte are found', () => {
  const { text } = createRedactor(Array.from({ length: 90 }, (_, at) => `x${String.fromCharCode(33 + at)}-value`));
  for (let at = 0; at < 90; at++)
    expect(text(`x${String.fromCharCode(33 + at)}-value x-value`)).toBe(`${MASK} x-value`);
});

test('many matches in one text are masked in linear time', () => {
  const { text } = createRedactor(['abcd']);
  expect(text('abcd '.repeat(300_000))).toBe(`${MASK} `.repeat(300_000));
});
