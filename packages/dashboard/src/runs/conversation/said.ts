/** A run of an agent as a conversation: of the events of its stream, or of the transcript that it leaves. */
import type { TimelineRun } from '../timeline/entry';
import { isModelStep, type ModelUse, modelUse } from '../timeline/model-use';
import type { AgentPart } from './agent-part';

type Approval = TimelineRun['approvals'][number];

export interface AgentCall {
  kind: 'call';
  /** The tool, as the model names it. */
  name: string;
  /** JSON, unless it was cut. */
  given: string;
  /** Null while there is none. */
  result: string | null;
  failed: boolean;
  /** Asked before it was made, or by it. */
  approvals: Approval[];
}

export type Said =
  | { kind: 'answer'; use: ModelUse }
  | { kind: 'text'; text: string }
  /** The agent has replaced so many of its messages by these words. */
  | { kind: 'summary'; text: string }
  | AgentCall;

type Part = Pick<AgentPart, 'name' | 'text'> & { part: string; use?: ModelUse; failed?: boolean };

/** @param steps of which those of models say what they took */
export function saidLive(parts: readonly AgentPart[], steps: TimelineRun['steps']): Said[] {
  const answers = steps.filter((step) => isModelStep(step) && step.finished_at !== null);
  const merged: Part[] = [];
  for (const part of parts) {
    while (part.at !== null && answers[0] && endOf(answers[0]) <= part.at) merged.push(answerOf(answers.shift()));
    merged.push(part);
  }
  return saidOf([...merged, ...answers.map(answerOf)]);
}

const endOf = ({ finished_at: at }: TimelineRun['steps'][number]): number => Date.parse(String(at));
const answerOf = (step: TimelineRun['steps'][number] | undefined): Part => ({
  ...{ part: 'answer', name: null, text: '' },
  use: modelUse(step?.result),
});

/** Null for a file that is no transcript: code may save one under the same name. */
export function saidIn(transcript: string): Said[] | null {
  try {
    const { parts } = JSON.parse(transcript) as { parts: unknown };
    return Array.isArray(parts) ? saidOf(parts.flatMap(partIn)) : null;
  } catch {
    return null;
  }
}

function partIn(given: unknown): Part[] {
  if (typeof given !== 'object' || given === null) return [];
  const { part, name, text, failed, ...answer } = given as Record<string, unknown>;
  return [
    {
      part: String(part),
      name: typeof name === 'string' ? name : null,
      text: typeof text === 'string' ? text : '',
      ...{ failed: failed === true, use: modelUse(answer) },
    },
  ];
}

/** An agent makes one call after another, so a result is that of the call before it. */
function saidOf(parts: Part[]): Said[] {
  const said: Said[] = [];
  for (const { part, name, text, use, failed = false } of parts) {
    const last = said.at(-1);
    if (part === 'answer' && use) said.push({ kind: 'answer', use });
    else if (part === 'text') said.push({ kind: 'text', text });
    else if (part === 'compaction') {
      // The summary was told as words when it was written.
      if (last?.kind === 'text' && last.text === text) said.pop();
      said.push({ kind: 'summary', text });
    } else if (part === 'tool_call') {
      said.push({ kind: 'call', name: name ?? '', given: text, result: null, failed: false, approvals: [] });
    } else if (part === 'tool_result') {
      const call = said.findLast((one): one is AgentCall => one.kind === 'call');
      if (call?.name === name && call.result === null) Object.assign(call, { result: text, failed });
    }
  }
  return said;
}

const ASKS = 'ask_person';
const TITLE_CHARS_MAX = 200;
const titleFor = (tool: string): string => `The agent asks to call ${tool}`.slice(0, TITLE_CHARS_MAX);

/**
 * Questions to people beside the calls that they were asked for. Those that held the whole run belong to none.
 * @returns also those whose call is not known
 */
export function withApprovals(
  said: readonly Said[],
  { approvals, steps }: TimelineRun,
): { said: Said[]; unplaced: Approval[] } {
  const asked = approvals
    .filter(({ id }) => steps.some(({ approval_id: approvalId }) => approvalId === id))
    .toSorted((one, other) => Date.parse(one.requested_at) - Date.parse(other.requested_at));
  const placed = said.map((one) => {
    if (one.kind !== 'call') return one;
    const own: Approval[] = [];
    if (asked[0]?.title === titleFor(one.name)) own.push(...asked.splice(0, 1));
    if (one.name === ASKS && asked[0] && !own.some(isRefused)) own.push(...asked.splice(0, 1));
    return { ...one, approvals: own };
  });
  return { said: placed, unplaced: asked };
}

const isRefused = ({ status }: Approval): boolean => status !== 'approved';
