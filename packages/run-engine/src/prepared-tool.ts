/** Between the run engine, which records calls of tools, and the service that makes them. */
import type { ToolCall, ToolFailure } from '@gantry/events';
import type { Run } from './run';
import type { ToolOutcome } from './tool-steps';

export type AskedTool = Pick<ToolCall, 'connection' | 'tool' | 'arguments' | 'timeoutMs' | 'stream'>;

export interface PreparedTool {
  /** Calling twice does no harm. */
  isRepeatable: boolean;
  /** Calling it changes nothing outside, whatever it costs. */
  isReadOnly: boolean;
  /**
   * Takes no longer than `timeoutMs`. Never throws for anything that the other side does.
   * @param tell takes more of the answer's text, masked, while it comes; it is lost where nobody waits for it
   * @param signal aborted with RunEnded once no attempt of the run will read the outcome
   */
  call(tell: (text: string) => void, signal: AbortSignal): Promise<ToolOutcome>;
}

/** Finds the tool and checks its arguments, without an effect. */
export type PrepareTool = (run: Run, asked: AskedTool) => Promise<PreparedTool | { failed: ToolFailure }>;
