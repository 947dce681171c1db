/**
 * Tools and a prompt of the conformance suite that ask their client something, with states sealed as `run_worker` seals
 * them. Names, keys and texts are the suite's.
 */
import { randomBytes } from 'node:crypto';
import { createTokenHasher } from '@gantry/auth';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type GetPromptResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type PrimitiveSchemaDefinition,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { openState, sealState } from '../mcp/request-state';

const hasher = createTokenHasher({ current: 'v1', keys: new Map([['v1', randomBytes(32)]]) });
const CALLER = 'the suite';

/** @throws Error for a state that was not sealed here */
export const openConformanceState = (sealRound: string) => openState(hasher, CALLER, sealRound);
const sealRound = (round: string): string => sealState(hasher, CALLER, { runId: round, approvalId: round });

type Answers = Record<string, InputRequest>;
type Ask = (context: ServerContext) => Answers;

const form = (message: string, name: string, type: 'string' | 'boolean' = 'string'): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { [name]: { type } as PrimitiveSchemaDefinition },
      required: [name],
    },
  });
const sample = (text: string): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 });
const confirm = (): Answers => ({ confirm: form('Please confirm', 'ok', 'boolean') });

interface Asking {
  asks: Ask[];
  hasState?: boolean;
}

const ASKING: Record<string, Asking> = {
  test_input_required_result_elicitation: { asks: [() => ({ user_name: form('What is your name?', 'name') })] },
  test_input_required_result_sampling: {
    asks: [() => ({ capital_question: sample('What is the capital of France?') })],
  },
  test_input_required_result_list_roots: { asks: [() => ({ client_roots: inputRequired.listRoots() })] },
  test_input_required_result_request_state: { asks: [confirm], hasState: true },
  test_input_required_result_tampered_state: { asks: [confirm], hasState: true },
  test_input_required_result_multiple_inputs: {
    asks: [
      () => ({
        user_name: form('What is your name?', 'name'),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      }),
    ],
    hasState: true,
  },
  test_input_required_result_multi_round: {
    asks: [
      () => ({ step1: form('Step 1: What is your name?', 'name') }),
      () => ({ step2: form('Step 2: What is your favorite color?', 'color') }),
    ],
    hasState: true,
  },
  test_input_required_result_capabilities: { asks: [asFarAsDeclared] },
  test_missing_capability: { asks: [() => ({ needed: sample('Anything') })] },
};

export const ASKING_TOOLS = Object.keys(ASKING);
export const ASKING_PROMPT = 'test_input_required_result_prompt';

function asFarAsDeclared({ mcpReq }: ServerContext): Answers {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const { elicitation, sampling } = (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
  return {
    ...(sampling && { greeting: sample('Generate a greeting') }),
    ...(elicitation && confirm()),
  };
}

/** @returns undefined for a tool that asks nothing */
export function askByTool(name: string, context: ServerContext): CallToolResult | InputRequiredResult | undefined {
  const asking = ASKING[name];
  if (!asking) return undefined;
  const round = asking.asks.findIndex((ask) => !isAnswered(ask(context), context) && !isBehind(ask, asking, context));
  const open = asking.asks[round];
  if (!open) return { content: [{ type: 'text', text: `state-ok ${JSON.stringify(context.mcpReq.inputResponses)}` }] };
  return inputRequired({
    inputRequests: open(context),
    ...(asking.hasState && { requestState: sealRound(String(round)) }),
  });
}

export function askByPrompt(context: ServerContext): GetPromptResult | InputRequiredResult {
  const inputRequests = { user_context: form('What context should the prompt use?', 'context') };
  if (!isAnswered(inputRequests, context)) return inputRequired({ inputRequests });
  const text = JSON.stringify(context.mcpReq.inputResponses);
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}

/** Whether the state says that an earlier round was answered. */
function isBehind(ask: Ask, { asks }: Asking, { mcpReq }: ServerContext): boolean {
  const { runId } = mcpReq.requestState<{ runId: string }>() ?? {};
  return runId !== undefined && asks.indexOf(ask) < Number(runId);
}

/** A form is answered by content of its own shape; what is missing or of another shape is asked for again. */
function isAnswered(asked: Answers, { mcpReq }: ServerContext): boolean {
  return Object.entries(asked).every(([key, request]) => {
    const answer = inputResponse(mcpReq.inputResponses, key);
    if (answer.kind !== 'elicit') return answer.kind !== 'missing';
    const { requestedSchema } = request.params as { requestedSchema: { properties: Record<string, { type: string }> } };
    return Object.entries(requestedSchema.properties).every(
      ([name, { type }]) => answer.action !== 'accept' || typeof answer.content?.[name] === type,
    );
  });
}
