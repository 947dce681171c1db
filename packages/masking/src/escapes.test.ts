import { DECODED, decodeEscape, INCOMPLETE, NO_ESCAPE } from './escapes';
import { createRedactor } from './redact';

const decode = (text: string) => decodeEscape(Buffer.from(text, 'latin1'), text.length);

test.each([
  ['%2B', '+'],
  ['%c3', '\xc3'],
  ['\\u002B', '+'],
  ['\\u{1F600}', '😀'],
  ['\\ud83d\\ude00', '😀'],
  ['\\x2b', '+'],
  ['\\053', '+'],
  ['\\/', '/'],
  ['&#43;', '+'],
  ['&#x2B;', '+'],
  ['&amp;', '&'],
  ['&auml;', 'ä'],
])('%s stands for %s', (text, character) => {
  const count = decode(text);
  expect(DECODED.toString(text === '%c3' ? 'latin1' : 'utf8', 0, count)).toBe(character);
  // Not before it is complete.
  for (let i = 1; i < text.length; i++) expect(decode(text.slice(0, i))).toBe(INCOMPLETE);
});

test.each([
  '%2x',
  '\\q',
  '\\u00x',
  '\\ud83d.',
  '\\ud83d\\n',
  '\\09',
  '&nope;',
  '&#;',
  '&#4x',
  '&#x4g',
  '&-',
  '&#12345678901',
])('%s is no escape', (text) => expect(decode(text)).toBe(NO_ESCAPE));

test('escaped values are found wherever a stream is cut, and text around them stays as it is', () => {
  const { text, stream } = createRedactor(['pa+ss/w"rd', '%41bc']);
  const input =
    'a % b \\ c & pa\\u002Bss\\/w\\"rd &#112;a&#43;ss/w&quot;rd %70a%2bss/w%22rd \\\\u0070a+ss/w\\\\\\"rd %2541bc \\u00';
  const whole = text(input);
  expect(whole).toBe('a % b \\ c & *** *** *** *** *** \\u00');
  for (let at = 0; at <= input.length; at++) {
    const cut = stream();
    const pieces = [cut.push(Buffer.from(input.slice(0, at))), cut.push(Buffer.from(input.slice(at))), cut.end()];
    expect(Buffer.concat(pieces).toString()).toBe(whole);
  }
});

test('UTF-8 that was read as Latin-1, and Latin-1 itself, are found', () => {
  const { text, stream } = createRedactor(['päßwörd']);
  expect(text(Buffer.from('päßwörd').toString('latin1'))).toBe('***');
  const cut = stream();
  expect(Buffer.concat([cut.push(Buffer.from('<päßwörd>', 'latin1')), cut.end()]).toString()).toBe('<***>');
});

test('a flood of escapes costs linear time', () => {
  const { stream } = createRedactor([`${'a'.repeat(32 * 1024)}b`]);
  const cut = stream();
  const flood = ['\\u0061', '&#97;', '%61', '\\\\\\\\', '&&&&', '\\ud83d'].map((one) =>
    Buffer.from(one.repeat(20_000)),
  );
  let length = 0;
  for (const chunk of flood) length += cut.push(chunk).length;
  length += cut.end().length;
  expect(length).toBeGreaterThan(0);
});
