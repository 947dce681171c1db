/** One attempt at reaching a receiver. Never throws for what the receiver or the way to it did. */
import { type Channel, channels } from './channels';
import type { ChannelDeps, Outgoing } from './channels/channel';
import type { Sent } from './delivery';
import { withReviewLink } from './review-link-in-alert';

export async function sendDelivery(deps: ChannelDeps, outgoing: Outgoing & { channel: Channel }): Promise<Sent> {
  const startedAt = performance.now();
  // Whoever reads the log of deliveries may not decide: the link is in what is sent, and not in what is kept.
  const whole = { ...outgoing, body: await withReviewLink(deps, outgoing.body) };
  const sent = await channels[outgoing.channel].send(deps, whole);
  return { ...sent, duration_ms: Math.round(performance.now() - startedAt) };
}
