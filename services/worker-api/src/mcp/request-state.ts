/**
 * State of a call that waits for its client's answer. The client carries it, so that any replica can go on. It is
 * signed under the platform's pepper and bound to the caller; any configured pepper verifies, as with review links. It
 * grants nothing: whatever it names is asked for with the rights of the client that sends it.
 */
import type { TokenHasher } from '@gantry/auth';
import type { Principal } from '@gantry/limits';
import { z } from 'zod';

const requestState = z.strictObject({ runId: z.string(), approvalId: z.string() });

/** The run that a call has started, and the approval that its client was asked about. */
export type RequestState = z.infer<typeof requestState>;

/** The principal that may send a state back. */
export const buildBinding = ({ workspaceId, userId, tokenId }: Principal): string =>
  [workspaceId, userId, tokenId].join(' ');

const buildSignedText = (binding: string, payload: string): string => `mcp state ${binding} ${payload}`;

export function sealState(hasher: TokenHasher, binding: string, state: RequestState): string {
  const payload = Buffer.from(JSON.stringify(state)).toString('base64url');
  return `${payload}.${hasher.hash(buildSignedText(binding, payload)).hash.toString('base64url')}`;
}

/** @throws Error for a state that was changed, or sealed for another caller */
export function openState(hasher: TokenHasher, binding: string, sealed: string): RequestState {
  const [payload = '', signature = ''] = sealed.split('.');
  if (!hasher.matches(buildSignedText(binding, payload), Buffer.from(signature, 'base64url'))) {
    throw new Error('the state was not sealed by this server for this caller');
  }
  return requestState.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
}
