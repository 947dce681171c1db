import { type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { loadTurnUsage, markModelCallsLost } from '../models/model-call-repository';
import { appendEvents, loadStreamedText } from './event-repository';
import {
  endTurn,
  findTurn,
  insertModelPart,
  listLostTurns,
  lockConversation,
  type Turn,
  type TurnStatus,
} from './turn-repository';

export interface TurnEnding {
  status: Exclude<TurnStatus, 'running' | 'waiting'>;
  error?: { code: string; detail: string };
}

/** The credential that it acted with was in the memory of the replica alone: it goes on when its person says so. */
export const INTERRUPTED_ENDING: TurnEnding = {
  status: 'interrupted',
  error: {
    code: 'interrupted',
    detail:
      'the service stopped while this response was in progress; the work so far has been kept. Resume it, or send another message to continue from there',
  },
};

/** Another credential of its person lets it go on. */
export const CREDENTIAL_ENDED_ENDING: TurnEnding = {
  status: 'interrupted',
  error: {
    code: 'credential_ended',
    detail:
      'the credential used to send this message is no longer valid; the work so far is kept. Resume with a valid credential',
  },
};

/** The end and its announcement; the conversation is locked by the caller. */
export async function endTurnWithEvent(
  tx: Sql,
  turn: Pick<Turn, 'id' | 'conversationId'>,
  ending: TurnEnding,
): Promise<void> {
  if (!(await endTurn(tx, turn.id, ending))) return;
  const usage = await loadTurnUsage(tx, turn.id);
  const { status, error } = ending;
  const data = { status, ...(error && { error }), usage };
  await appendEvents(tx, { conversationId: turn.conversationId, turnId: turn.id }, [{ type: 'done', data }]);
}

/**
 * Ends turns whose replica has died: the outcome of a call under way is unknown, and none is repeated automatically.
 * @param conversationId null: in all conversations
 */
export async function interruptLostTurns(pool: Pool, conversationId: string | null): Promise<void> {
  for (const lost of await listLostTurns(pool, conversationId)) {
    await transaction(pool, async (tx) => {
      if (!(await lockConversation(tx, lost))) return;
      if (!(await findTurn(tx, lost.id))?.isLost) return;
      await markModelCallsLost(tx, lost.id);
      // As of any answer that breaks off, the person keeps what they have read.
      const text = await loadStreamedText(tx, lost.conversationId);
      if (text) await insertModelPart(tx, { turnId: lost.id, content: { text, isPartial: true } });
      await endTurnWithEvent(tx, lost, INTERRUPTED_ENDING);
    });
  }
}
