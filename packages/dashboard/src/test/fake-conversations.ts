/** Fakes conversations with agent workers. The run of a message does nothing on its own: a test drives it. */
import type { WorkerSchemas } from '@gantry/sdk';
import { type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';
import { emitEvent } from './fake-stream';
import { buildWorkerRun, type FakeWorkerRun } from './fake-worker-runs';

type Schemas = WorkerSchemas;
type Turn = Schemas['WorkerTurn'];

export interface FakeConversations {
  list: Schemas['WorkerConversation'][];
  /** Requests as `METHOD /path`, with their bodies. */
  sent: { line: string; body: unknown }[];
  /** The error response to the next message. */
  refuseNext: FakeResponse | null;
}

export const createConversationState = (): FakeConversations => ({ list: [], sent: [], refuseNext: null });

let count = 0;
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

export const buildWorkerTurn = (number: number, over: Partial<Turn> = {}): Turn => ({
  number,
  message: 'Hello',
  run_id: `run_c${++count}`,
  status: 'completed',
  answer: 'Hello.',
  error: null,
  left_out: 0,
  created_by: 'usr_ada',
  created_at: secondsAgo(600),
  ended_at: secondsAgo(593),
  ...over,
});

export const buildWorkerConversation = (
  title: string,
  over: Partial<Schemas['WorkerConversation']> = {},
): Schemas['WorkerConversation'] => ({
  id: `wcv_${++count}`,
  worker_id: 'bookkeeper',
  title,
  created_by: 'usr_ada',
  created_at: secondsAgo(700),
  updated_at: secondsAgo(600),
  permissions: { delete: true },
  inputs: {},
  turns: [],
  ...over,
});

/** Ends the run of the current message with an answer. */
export function finishTurn(fake: FakeConversations, runs: FakeWorkerRun[], answer: string): void {
  const turn = fake.list.flatMap(({ turns }) => turns).find(({ ended_at: endedAt }) => endedAt === null);
  const run = runs.find((one) => one.run.id === turn?.run_id);
  if (!turn || !run) throw new Error('no message is being answered');
  const completed_at = new Date().toISOString();
  Object.assign(turn, { status: 'completed', answer, ended_at: completed_at });
  Object.assign(run.run, { status: 'completed', completed_at, duration_ms: 900, output: { text: answer } });
  emitEvent(run, 'done', { status: 'completed', at: completed_at });
  for (const watcher of run.watchers) watcher.end();
}

export async function handleConversationRequest(
  fake: FakeConversations,
  runs: FakeWorkerRun[],
  { line, part, query, body }: FakeRequest,
): Promise<FakeResponse | undefined> {
  if (part[2] !== 'workers' || part[4] !== 'conversations') return undefined;
  const [method] = line.split(' ');
  if (method === 'POST') {
    const sent = (await body()) as unknown as { message: string; inputs?: Record<string, unknown> };
    fake.sent.push({ line, body: sent });
    const refusal = takeRefusal(fake);
    if (refusal) return refusal;
    const turn = buildWorkerTurn(1, {
      message: sent.message,
      status: 'running',
      answer: null,
      created_at: secondsAgo(0),
      ended_at: null,
    });
    const run = buildWorkerRun({ id: turn.run_id, worker_id: String(part[3]), status: 'running', trigger: 'api' });
    runs.push(run);
    if (part[5] === undefined) {
      const started = buildWorkerConversation(sent.message, { inputs: sent.inputs ?? {}, turns: [turn] });
      fake.list.unshift(started);
      run.run.conversation_id = started.id;
      return { status: 201, body: started };
    }
    const conversation = fake.list.find(({ id }) => id === part[5]);
    turn.number = (conversation?.turns.at(-1)?.number ?? 0) + 1;
    conversation?.turns.push(turn);
    run.run.conversation_id = conversation?.id ?? null;
    return { status: 201, body: turn };
  }
  if (part[5] === undefined) return { status: 200, body: fake.list.map(({ turns, inputs, ...head }) => head) };
  const found = fake.list.find(({ id }) => id === part[5]);
  if (!found) return { status: 404, body: { detail: 'no such conversation' } };
  if (method === 'DELETE') {
    fake.list.splice(fake.list.indexOf(found), 1);
    return { status: 204 };
  }
  const end = found.turns.length - Number(query.get('offset') ?? 0);
  const turns = found.turns.slice(Math.max(0, end - Number(query.get('limit') ?? 20)), Math.max(0, end));
  return { status: 200, body: { ...found, turns } };
}
