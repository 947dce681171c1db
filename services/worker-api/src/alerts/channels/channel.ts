/** A delivery channel. To add one: a file here, its name in index.ts, and a column of the alert. */
import type { Alert } from '../../generated/prisma/client';
import type { AlertDeps } from '../alert-deps';
import type { AttemptResult } from '../delivery';

export type ChannelDeps = Pick<
  AlertDeps,
  'prisma' | 'hasher' | 'vault' | 'mailer' | 'outboundAllow' | 'dashboardUrl' | 'now'
>;

/** An alert's addresses, one column per channel. */
export type Addresses = Pick<Alert, 'url' | 'emailTo'>;

export interface OutgoingAlert extends Addresses {
  /** The same at each attempt, so that a receiver can deduplicate. */
  id: string;
  /** JSON of an AlertPayload. */
  body: string;
  alertId: string;
  workspaceId: string;
  description: string;
  signingKey: Uint8Array | null;
}

export type SendResult = Omit<AttemptResult, 'duration_ms'>;

export interface AlertChannel {
  /** The alert's field that holds the address. */
  field: string;
  isUsedBy(alert: Addresses): boolean;
  /** Upper bound for one attempt, in milliseconds. */
  attemptMsMax: number;
  /** One attempt. Never throws for failures of the receiver or the network. */
  send(deps: ChannelDeps, outgoing: OutgoingAlert): Promise<SendResult>;
}

export const toFailure = (error: string): SendResult => ({ status: null, error, response: null });
