import { createLineFilter, findInsertionIndex } from './line-filter';
import { toLogLine } from './log-line';
import { createLogStore } from './log-store';

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => toLogLine(String(from + index), { text: `line ${from + index}` }));

// Node has no frames.
beforeAll(() => {
  Object.assign(globalThis, { document: { hidden: true } });
});
afterAll(() => {
  Reflect.deleteProperty(globalThis, 'document');
});

test('a log beyond its bound keeps the latest lines, and search hits in it stay found', () => {
  const store = createLogStore([], 100, 10);
  let looks = 0;
  const select = createLineFilter(({ plain }) => {
    looks++;
    return plain.endsWith('5');
  });
  store.append(lines(0, 105));
  expect(select(store).map((position) => store.lines[position]?.plain)).toContain('line 5');
  store.append(lines(105, 120));
  expect([store.lines.length, store.dropped()]).toEqual([100, 20]);
  expect(select(store).map((position) => store.lines[position]?.plain)).toEqual(
    [25, 35, 45, 55, 65, 75, 85, 95, 105, 115].map((number) => `line ${number}`),
  );
  expect(looks).toBe(120);
});

test('a position is resolved to its line, or to where it would be', () => {
  expect([0, 3, 4, 9, 10].map((position) => findInsertionIndex([3, 5, 9], position))).toEqual([0, 0, 1, 2, 3]);
});

test('a line that overwrites itself shows its final text', () => {
  expect(toLogLine('1', { text: ' 10%\r 50%\r100%\r' }).plain).toBe('100%');
});
