import type { ChatCall, ChatTurn } from '../../shell/api';
import type { Tone } from '../../ui/status-chip';

/** @param turn the state of the message that the call belongs to */
export function toCallState(status: ChatCall['status'], turn: ChatTurn['status']): { tone: Tone; word: string } {
  switch (status) {
    case 'pending':
      return turn === 'waiting' || turn === 'running'
        ? { tone: 'timeout', word: 'Needs approval' }
        : { tone: 'idle', word: 'Not called' };
    case 'ready':
      if (turn === 'waiting') return { tone: 'idle', word: 'Approved' };
      return turn === 'running' ? { tone: 'running', word: 'Running' } : { tone: 'idle', word: 'Not called' };
    case 'running':
      return turn === 'running' ? { tone: 'running', word: 'Running' } : { tone: 'timeout', word: 'Outcome unknown' };
    case 'done':
      return { tone: 'success', word: 'Done' };
    case 'failed':
      return { tone: 'error', word: 'Failed' };
    case 'declined':
      return { tone: 'idle', word: 'Rejected' };
    case 'stopped':
      return { tone: 'idle', word: 'Stopped' };
    default:
      return { tone: 'timeout', word: 'Outcome unknown' };
  }
}

/** Returns the DOM id of the line of a call. */
export const callSummaryId = (callId: string): string => `call-${callId}`;
