/** What an agent said and did, as the stream of its run tells it: a text, a call, or the result of the last call. */
export interface AgentPart {
  part: PartName;
  /** Of a tool. */
  name: string | null;
  /** Words, arguments as JSON, or a result. Perhaps shortened: the transcript has all of it. */
  text: string;
  /** Epoch milliseconds. */
  at: number | null;
}

const PARTS = ['text', 'tool_call', 'tool_result'] as const;
type PartName = (typeof PARTS)[number];

export const isAgentPart = (event: string): event is PartName => PARTS.some((part) => part === event);

export const partOf = (part: PartName, body: Record<string, unknown>, at: number | null): AgentPart => ({
  ...{ part, at },
  name: typeof body.name === 'string' ? body.name : null,
  text: typeof body.text === 'string' ? body.text : '',
});
