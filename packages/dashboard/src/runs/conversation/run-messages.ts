/** Builds the conversation of an agent's run from the events of its stream, or from its transcript. */
import type { TimelineRun } from '../timeline/entry';
import { isModelStep, type ModelCallUsage, parseModelCallUsage } from '../timeline/model-call-usage';
import type { AgentPart } from './agent-part';

type Approval = TimelineRun['approvals'][number];

export interface AgentCall {
  kind: 'call';
  /** Null in events of earlier versions. */
  id: string | null;
  /** The tool, as the model names it. */
  name: string;
  /** JSON, unless truncated. */
  given: string;
  /** Null while there is none. */
  result: string | null;
  failed: boolean;
  /** Requested before the call, or by it. */
  approvals: Approval[];
}

export type RunMessage =
  | { kind: 'answer'; use: ModelCallUsage }
  | { kind: 'text'; text: string }
  /** The text by which the agent replaced earlier messages. */
  | { kind: 'summary'; text: string }
  | AgentCall;

interface Part extends Pick<AgentPart, 'name' | 'text'>, Partial<Pick<AgentPart, 'piece' | 'attempt'>> {
  part: string;
  /** Id of a call and its result, where the stream has it. */
  id?: string;
  use?: ModelCallUsage;
  failed?: boolean;
}

type Step = TimelineRun['steps'][number];

/** @param steps of which those of models have their usage */
export function buildLiveMessages(parts: readonly AgentPart[], steps: TimelineRun['steps']): RunMessage[] {
  const answers = steps.filter(isModelStep);
  const merged: Part[] = [];
  const flush = (isBefore: (answer: Step) => boolean) => {
    while (answers[0] && isBefore(answers[0])) merged.push(toAnswerPart(answers.shift()));
  };
  for (const part of parts) {
    const { piece, at } = part;
    // Text arrives before its response has ended, everything else after it.
    if (piece) flush(({ ordinal }) => ordinal <= piece.step);
    else if (at !== null) flush((answer) => getStepEnd(answer) <= at);
    merged.push(part);
  }
  flush(({ finished_at: end }) => end !== null);
  return buildMessages(merged);
}

const getStepEnd = ({ finished_at: at }: Step): number => (at === null ? Number.POSITIVE_INFINITY : Date.parse(at));
const toAnswerPart = (step: Step | undefined): Part => ({
  part: 'answer',
  name: null,
  text: '',
  use: parseModelCallUsage(step?.result),
});

/** Parses a transcript; null for any other file: code may save one under the same name. */
export function parseTranscript(transcript: string): RunMessage[] | null {
  try {
    const { parts } = JSON.parse(transcript) as { parts: unknown };
    return Array.isArray(parts) ? buildMessages(parts.flatMap(parseParts)) : null;
  } catch {
    return null;
  }
}

function parseParts(value: unknown): Part[] {
  if (typeof value !== 'object' || value === null) return [];
  const { part, name, text, failed, id, ...answer } = value as Record<string, unknown>;
  return [
    {
      part: String(part),
      name: typeof name === 'string' ? name : null,
      text: typeof text === 'string' ? text : '',
      ...(typeof id === 'string' && { id }),
      failed: failed === true,
      use: parseModelCallUsage(answer),
    },
  ];
}

function buildMessages(parts: Part[]): RunMessage[] {
  const messages: RunMessage[] = [];
  const open: { call: AgentCall; part: Part }[] = [];
  let spoken: Part | undefined;
  for (const part of parts) {
    const { name, text } = part;
    const last = messages.at(-1);
    if (part.part === 'answer' && part.use) messages.push({ kind: 'answer', use: part.use });
    else if (part.part === 'text') {
      const isMore = last?.kind === 'text' && part.piece && spoken?.piece?.step === part.piece.step;
      if (isMore) last.text = last.text.slice(0, part.piece?.offset) + text;
      else messages.push({ kind: 'text', text });
      spoken = part;
    } else if (part.part === 'compaction') {
      // The summary was streamed as text when it was written.
      if (last?.kind === 'text' && last.text === text) messages.pop();
      messages.push({ kind: 'summary', text });
    } else if (part.part === 'tool_call' && !open.some((one) => isRepeated(one.part, part))) {
      const call: AgentCall = {
        kind: 'call',
        id: part.id ?? null,
        name: name ?? '',
        given: text,
        result: null,
        failed: false,
        approvals: [],
      };
      open.push({ call, part });
      messages.push(call);
    } else if (part.part === 'tool_result') {
      // Calls of one answer may be made at once; results come in the order of the calls.
      const at = open.findIndex((one) => one.part.name === name && one.part.id === part.id);
      const [answered] = at < 0 ? [] : open.splice(at, 1);
      if (answered) Object.assign(answered.call, { result: text, failed: part.failed === true });
    }
  }
  return messages;
}

/** Whether a call whose process has ended is reported again by the next attempt. */
const isRepeated = (before: Part, { name, text, attempt = 0 }: Part): boolean =>
  before.name === name && before.text === text && (before.attempt ?? 0) < attempt;

const ASK_PERSON_TOOL = 'ask_person';
const TITLE_CHARS_MAX = 200;
const buildApprovalTitle = (tool: string): string => `The agent asks to call ${tool}`.slice(0, TITLE_CHARS_MAX);

/**
 * Assigns approvals to the calls that requested them. Approvals of the whole run belong to no call.
 * @returns also those whose call is not known
 */
export function attachApprovals(
  messages: readonly RunMessage[],
  { approvals, steps }: TimelineRun,
): { messages: RunMessage[]; unplaced: Approval[] } {
  const stepApprovals = approvals
    .filter(({ id }) => steps.some(({ approval_id: approvalId }) => approvalId === id))
    .toSorted((one, other) => Date.parse(one.requested_at) - Date.parse(other.requested_at));
  const calls = messages.filter((one) => one.kind === 'call');
  const listed = stepApprovals.filter((approval) => calls.some((call) => isForCall(approval, call)));
  const others = stepApprovals.filter((approval) => !listed.includes(approval));
  const placed = messages.map((one) => {
    if (one.kind !== 'call') return one;
    // A pending approval is shown at the first of its calls; a decision at each of them.
    const isForMessage = (approval: Approval) =>
      approval.status !== 'pending' || calls.find((call) => isForCall(approval, call)) === one;
    const own = listed.filter((approval) => isForCall(approval, one) && isForMessage(approval));
    if (own.length === 0 && others[0]?.title === buildApprovalTitle(one.name)) own.push(...others.splice(0, 1));
    if (one.name === ASK_PERSON_TOOL && others[0] && !own.some(isRefused)) own.push(...others.splice(0, 1));
    return { ...one, approvals: own };
  });
  return { messages: placed, unplaced: others };
}

const isForCall = ({ calls }: Approval, { id }: AgentCall): boolean =>
  id !== null && (calls?.some((call) => call.id === id) ?? false);

const isRefused = ({ status }: Approval): boolean => status !== 'approved';
