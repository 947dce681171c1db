import { hasSequences, parseSegments, stripSequences } from './ansi';

const ESC = '\u001b';

test('colours and weights begin and end where the sequences say', () => {
  expect(parseSegments(`a${ESC}[1;31mred${ESC}[22m thin${ESC}[0m b`)).toEqual([
    { text: 'a', style: {} },
    { text: 'red', style: { bold: true, colour: 'red' } },
    { text: ' thin', style: { bold: false, dim: false, colour: 'red' } },
    { text: ' b', style: {} },
  ]);
});

test('bright, indexed and true colours become one of the eight', () => {
  const parseColour = (codes: string) => parseSegments(`${ESC}[${codes}mx`)[0]?.style.colour;
  expect(['92', '38;5;196', '38;2;30;60;250', '38;2;250;250;250', '38;5;240'].map(parseColour)).toEqual([
    ...['green', 'red', 'blue', 'white', 'black'],
  ]);
  expect(parseSegments(`${ESC}[48;5;21;1mx`)[0]?.style).toEqual({ background: 'blue', bold: true });
});

test('all other control sequences are removed, and no text is', () => {
  const text = `${ESC}]0;title\u0007${ESC}[2K\rdone${ESC}[1A ${ESC}]8;;http://evil.example${ESC}\\link${ESC}]8;;${ESC}\\ <b>`;
  expect(hasSequences(text)).toBe(true);
  expect(stripSequences(text)).toBe('done link <b>');
  expect(
    parseSegments(text)
      .map((piece) => piece.text)
      .join(''),
  ).toBe('done link <b>');
});

test('a megabyte of half sequences is read in linear time', () => {
  for (const part of [`${ESC}[`, `${ESC}]`, `${ESC}[1;`, `${ESC}`]) {
    expect(stripSequences(part.repeat(300_000))).not.toContain(ESC);
  }
});
