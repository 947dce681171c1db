import {
  encode,
  MODELS_CONNECTION,
  runSubjects,
  type ToolCall,
  type ToolFailure,
  type ToolReply,
  toolCall,
} from '@gantry/events';
import type { ExecutorFixture } from './executor-fixture';

export interface ModelTurn {
  text?: string;
  calls?: { name: string; arguments: unknown; problems?: string[]; serves?: unknown; id?: string }[];
  output?: unknown;
  cut?: boolean;
  failed?: ToolFailure;
}

/** Stands in for worker-api during the tests of a file: responds for models with the next turn, and for tools. */
export function setupModelCalls(fixture: ExecutorFixture) {
  const state = {
    /** Responses of the model that are still to come. */
    turns: [] as ModelTurn[],
    /** Calls of models and tools that were received. */
    received: [] as ToolCall[],
    callTool: (_: ToolCall): ToolReply => ({ result: 'done' }),
  };
  const initial = { ...state };
  function respondAsModel({ text = '', calls = [], output, cut = false, failed }: ModelTurn): ToolReply {
    const named = calls.map((one, index) => ({ id: `c${state.received.length}-${index}`, ...one }));
    return failed ? { failed } : { result: { text, output, tool_calls: named, cut, model: 'm', usage: {} } };
  }
  beforeAll(() => {
    fixture.bus.nc.subscribe(runSubjects.tool('worker', '*'), {
      callback: (_, message) => {
        const call = toolCall.parse(message.json());
        state.received.push(call);
        const isModel = call.connection === MODELS_CONNECTION;
        const reply = isModel ? respondAsModel(state.turns.shift() ?? {}) : state.callTool(call);
        // Recorded before the code sees it.
        if ('result' in reply) {
          const name = isModel ? `model.${call.tool}` : `${call.connection}.${call.tool}`;
          fixture.service.recordStep(call.runId, { ordinal: call.ordinal, kind: 'tool', name, result: reply.result });
        }
        message.respond(encode(reply));
      },
    });
  });
  beforeEach(() => Object.assign(state, initial, { turns: [], received: [] }));
  return state;
}
