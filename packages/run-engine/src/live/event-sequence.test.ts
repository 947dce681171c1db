import type { NewEvent, StoredEvent } from '../run-events';
import { createEventSequence } from './event-sequence';

const at = new Date(0);
const storedEvents = (...seqs: number[]): StoredEvent[] => seqs.map((seq) => ({ seq, at, type: 'log', data: {} }));
const liveEvents = (...seqs: number[]): NewEvent[] =>
  storedEvents(...seqs).map((event) => ({ ...event, closes: false }));

function createRecorder(last = 1_000_000) {
  const seqs: number[] = [];
  return { seqs, sequence: createEventSequence(last, ({ seq }) => seqs.push(seq)) };
}

test('each event is emitted once and in order, whichever source has it first', () => {
  const { seqs, sequence } = createRecorder();
  sequence.addLive(liveEvents(1_000_001));
  sequence.addLive(liveEvents(1_000_003, 1_000_004));
  expect([seqs, sequence.isAhead]).toEqual([[1_000_001], true]);
  sequence.addStored(storedEvents(1_000_001, 1_000_002, 1_000_003));
  sequence.addLive(liveEvents(1_000_002, 1_000_005));
  expect(seqs).toEqual([1_000_001, 1_000_002, 1_000_003, 1_000_004, 1_000_005]);
  expect([sequence.lastSeq, sequence.isAhead]).toEqual([1_000_005, false]);
});

test('events after a lost one are emitted once the table has passed it', () => {
  const { seqs, sequence } = createRecorder();
  sequence.addLive(liveEvents(1_000_004));
  sequence.addStored(storedEvents(1_000_001, 1_000_003));
  expect(seqs).toEqual([1_000_001, 1_000_003, 1_000_004]);
});

test('a live ending is emitted only when the table has it', () => {
  const { seqs, sequence } = createRecorder();
  const [ending] = liveEvents(1_000_001).map((event) => ({ ...event, closes: true }));
  sequence.addLive([ending as NewEvent]);
  expect([seqs, sequence.isAhead]).toEqual([[], false]);
  sequence.addStored(storedEvents(1_000_001));
  expect(seqs).toEqual([1_000_001]);
});
