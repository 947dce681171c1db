/** One delivery attempt. Never throws for failures of the receiver or the network. */

import { addReviewLink } from './add-review-link';
import { type Channel, channels } from './channels';
import { type AlertAddresses, type ChannelDeps, type OutgoingAlert, toFailedResult } from './channels/channel';
import type { AttemptResult } from './delivery';

export async function sendDelivery(
  deps: ChannelDeps,
  outgoing: OutgoingAlert & AlertAddresses & { channel: Channel },
): Promise<AttemptResult> {
  const startedAt = performance.now();
  // Readers of the delivery log may not decide: the link is sent but never stored.
  const whole = { ...outgoing, body: await addReviewLink(deps, outgoing.body) };
  const { field, column, send } = channels[outgoing.channel];
  const address = outgoing[column];
  const sent =
    address === null ? toFailedResult(`${field} is no longer set on the alert`) : await send(deps, address, whole);
  return { ...sent, duration_ms: Math.round(performance.now() - startedAt) };
}
