/** Interface between the run engine, which records tool calls, and the service that executes them. */
import type { ToolCall, ToolFailure } from '@gantry/events';
import type { Run } from '../run';
import type { ToolOutcome } from './tool-steps';

export type RequestedTool = Pick<ToolCall, 'connection' | 'tool' | 'arguments' | 'timeoutMs' | 'stream'>;

export interface PreparedTool {
  /** The call may be repeated safely. */
  isIdempotent: boolean;
  /** The call has no external effect, whatever it costs. */
  isReadOnly: boolean;
  /**
   * Takes no longer than `timeoutMs`. Never throws because of the other side.
   * @param emitText receives the result's masked text as it arrives; dropped without a waiting client
   * @param signal aborted with RunEndedError once no attempt of the run will read the outcome
   */
  call(emitText: (text: string) => void, signal: AbortSignal): Promise<ToolOutcome>;
}

/** Finds the tool and checks its arguments, without an effect. */
export type PrepareTool = (run: Run, tool: RequestedTool) => Promise<PreparedTool | { failed: ToolFailure }>;
