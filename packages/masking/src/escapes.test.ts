import { DECODED, decodeEscape, ENDED_BEFORE, INCOMPLETE, NO_ESCAPE } from './escapes';
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
  ['%u002B', '+'],
  ['%uD83D%uDE00', '😀'],
  ['\\U0001F600', '😀'],
])('%s stands for %s', (text, character) => {
  const count = decode(text);
  expect(DECODED.toString(text === '%c3' ? 'latin1' : 'utf8', 0, count)).toBe(character);
  // Not before it is complete.
  for (let i = 1; i < text.length; i++) expect(decode(text.slice(0, i))).toBe(INCOMPLETE);
});

test.each([
  ['&#43', '+'],
  ['&#x2B', '+'],
  ['&amp', '&'],
  ['&eacute', 'é'],
])('%s needs no semicolon', (text, character) => {
  for (let i = 1; i <= text.length; i++) expect(decode(text.slice(0, i))).toBe(INCOMPLETE);
  const count = decode(`${text}-`) - ENDED_BEFORE;
  expect(DECODED.toString('utf8', 0, count)).toBe(character);
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
  '&#xg',
  '&-',
  '&amp=',
  '&plus-',
  '%u00x',
  '%ud83d\\ude00',
  '\\U0000002x',
  '=4x',
  '=\rx',
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

test('escapes of older and looser writers are found wherever a stream is cut', () => {
  const { text, stream } = createRedactor(['pa+ss/w"rd', 'k=1&amp', 'x?a=1&region=eu"']);
  const inputs = {
    'pa%u002Bss%u002Fw%22rd.': '***.',
    'pa\\U0000002Bss\\U0000002fw\\"rd.': '***.',
    'pa&#43ss&#x2Fw&#34rd pa+ss/w&quot.': '*** pa+ss/w&quot.',
    'k=1&amp&#97mp;.': '***;.',
    'k&#61;1&#38am&#112': '***',
    'x?a=1&region=eu&quot;.': '***.',
  };
  for (const [input, expected] of Object.entries(inputs)) {
    expect(text(input)).toBe(expected);
    for (let at = 0; at <= input.length; at++) {
      const cut = stream();
      const pieces = [cut.push(Buffer.from(input.slice(0, at))), cut.push(Buffer.from(input.slice(at))), cut.end()];
      expect(Buffer.concat(pieces).toString()).toBe(expected);
    }
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
  const escapes = ['\\u0061', '&#97;', '%61', '\\\\\\\\', '&&&&', '\\ud83d', '&#97', '%u0061', '=61', '=\n', '===='];
  const flood = escapes.map((one) => Buffer.from(one.repeat(20_000)));
  let length = 0;
  for (const chunk of flood) length += cut.push(chunk).length;
  length += cut.end().length;
  expect(length).toBeGreaterThan(0);
});
