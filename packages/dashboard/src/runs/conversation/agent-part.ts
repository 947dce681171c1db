/** A step of an agent as the stream of its run reports it: a text, a call, or the result of the last call. */
export interface AgentPart {
  part: PartName;
  /** Name of the tool, for a call or a result. */
  name: string | null;
  /** Text, arguments as JSON, or a result. May be shortened: the transcript has all of it. */
  text: string;
  /** Id of a call and its result; absent in events of earlier versions. */
  id?: string;
  /** Epoch milliseconds. */
  at: number | null;
  attempt: number;
  /** For streamed text: the step of the response, and the offset in it, in characters. */
  piece: { step: number; offset: number } | null;
}

const PARTS = ['text', 'tool_call', 'tool_result'] as const;
type PartName = (typeof PARTS)[number];

export const isAgentPart = (event: string): event is PartName => PARTS.some((part) => part === event);

/** @param timing time and attempt of the event */
export function toAgentPart(
  part: PartName,
  { name, text, step, offset, call_id: id }: Record<string, unknown>,
  timing: Pick<AgentPart, 'at' | 'attempt'>,
): AgentPart {
  return {
    part,
    ...timing,
    name: typeof name === 'string' ? name : null,
    text: typeof text === 'string' ? text : '',
    ...(typeof id === 'string' && { id }),
    piece: typeof step === 'number' && typeof offset === 'number' ? { step, offset } : null,
  };
}
