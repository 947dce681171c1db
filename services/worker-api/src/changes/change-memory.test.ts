import { createChangeMemory, RETENTION_MS } from './change-memory';

const runs = (id: string | null) => ({ noun: 'runs', id });

test('a resource that changes twice is announced once, with its last time', () => {
  const memory = createChangeMemory(0);
  memory.note('ws', runs('a'), 10);
  memory.note('ws', runs('b'), 20);
  memory.note('ws', runs('a'), 30);
  expect(memory.since('ws', 0)).toEqual([runs('a'), runs('b')]);
  expect(memory.since('ws', 30)).toEqual([runs('a')]);
  expect(memory.since('elsewhere', 0)).toEqual([]);
});

test('many changes of one kind become one for the kind, and later ones are named again', () => {
  const memory = createChangeMemory(0);
  for (let i = 0; i < 220; i++) memory.note('ws', runs(`r${i}`), 10);
  memory.note('ws', { noun: 'secrets', id: null }, 10);
  memory.note('ws', runs('later'), 20);
  expect(memory.since('ws', 10)).toEqual([runs(null), { noun: 'secrets', id: null }]);
  expect(memory.since('ws', 20)).toEqual([runs('later')]);
});

test('positions before its history, its start or a gap are unknown', () => {
  const memory = createChangeMemory(100);
  expect(memory.since('ws', 99)).toBeNull();
  memory.note('ws', runs('a'), 150);
  memory.prune(120 + RETENTION_MS);
  expect(memory.since('ws', 119)).toBeNull();
  expect(memory.since('ws', 120)).toEqual([runs('a')]);
  memory.forget(200);
  expect(memory.since('ws', 199)).toBeNull();
  expect(memory.since('ws', 200)).toEqual([]);
});

test('the number of remembered workspaces is bounded; for a dropped one nothing is claimed', () => {
  const memory = createChangeMemory(0);
  for (let i = 0; i < 2_001; i++) memory.note(`ws${i}`, runs('a'), 10 + i);
  expect(memory.since('ws0', 10)).toBeNull();
  expect(memory.since('ws2000', 11)).toEqual([runs('a')]);
});
