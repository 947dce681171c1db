import type { ChatCall, ChatTurn } from '../../shell/api';
import type { Tone } from '../../ui/status-chip';

/** @param turnStatus the state of the message that the call belongs to */
export function toCallState(status: ChatCall['status'], turnStatus: ChatTurn['status']): { tone: Tone; word: string } {
  switch (status) {
    case 'pending':
      return turnStatus === 'waiting' || turnStatus === 'running'
        ? { tone: 'timeout', word: 'Needs approval' }
        : { tone: 'idle', word: 'Not called' };
    case 'ready':
      if (turnStatus === 'waiting') return { tone: 'idle', word: 'Approved' };
      return turnStatus === 'running' ? { tone: 'running', word: 'Running' } : { tone: 'idle', word: 'Not called' };
    case 'running':
      return turnStatus === 'running'
        ? { tone: 'running', word: 'Running' }
        : { tone: 'timeout', word: 'Outcome unknown' };
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
export const getCallSummaryId = (callId: string): string => `call-${callId}`;
