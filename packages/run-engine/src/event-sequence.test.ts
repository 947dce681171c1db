import { createEventSequence } from './event-sequence';
import type { NewEvent, StoredEvent } from './run-events';

const at = new Date(0);
const stored = (...seqs: number[]): StoredEvent[] => seqs.map((seq) => ({ seq, at, type: 'log', data: {} }));
const live = (...seqs: number[]): NewEvent[] => stored(...seqs).map((event) => ({ ...event, closes: false }));

function told(last = 1_000_000) {
  const seqs: number[] = [];
  return { seqs, sequence: createEventSequence(last, ({ seq }) => seqs.push(seq)) };
}

test('each event is emitted once and in order, whichever source has it first', () => {
  const { seqs, sequence } = told();
  sequence.live(live(1_000_001));
  sequence.live(live(1_000_003, 1_000_004));
  expect([seqs, sequence.isAhead]).toEqual([[1_000_001], true]);
  sequence.stored(stored(1_000_001, 1_000_002, 1_000_003));
  sequence.live(live(1_000_002, 1_000_005));
  expect(seqs).toEqual([1_000_001, 1_000_002, 1_000_003, 1_000_004, 1_000_005]);
  expect([sequence.last, sequence.isAhead]).toEqual([1_000_005, false]);
});

test('events after a lost one are emitted once the table has passed it', () => {
  const { seqs, sequence } = told();
  sequence.live(live(1_000_004));
  sequence.stored(stored(1_000_001, 1_000_003));
  expect(seqs).toEqual([1_000_001, 1_000_003, 1_000_004]);
});

test('a live ending is emitted only when the table has it', () => {
  const { seqs, sequence } = told();
  const [ending] = live(1_000_001).map((event) => ({ ...event, closes: true }));
  sequence.live([ending as NewEvent]);
  expect([seqs, sequence.isAhead]).toEqual([[], false]);
  sequence.stored(stored(1_000_001));
  expect(seqs).toEqual([1_000_001]);
});
