/** A way to a receiver. Another one is another file here, its name in index.ts, and a column of the alert. */
import type { Deps } from '../../deps';
import type { Alert } from '../../generated/prisma/client';
import type { Sent } from '../delivery';

export type ChannelDeps = Pick<
  Deps,
  'prisma' | 'hasher' | 'vault' | 'mailer' | 'outboundAllow' | 'dashboardUrl' | 'now'
>;

/** Where an alert may go, one column for each channel. */
export type Addresses = Pick<Alert, 'url' | 'emailTo'>;

export interface Outgoing extends Addresses {
  /** The same at each attempt, so that a receiver knows a message it has had. */
  id: string;
  /** JSON of an AlertPayload. */
  body: string;
  alertId: string;
  workspaceId: string;
  description: string;
  signingKey: Uint8Array | null;
}

export type Result = Omit<Sent, 'duration_ms'>;

export interface AlertChannel {
  /** The field of an alert that says where it goes. */
  field: string;
  isUsedBy(alert: Addresses): boolean;
  /** No attempt takes longer. Milliseconds. */
  attemptMsMax: number;
  /** One attempt. Never throws for what the receiver or the way to it did. */
  send(deps: ChannelDeps, outgoing: Outgoing): Promise<Result>;
}

export const failed = (error: string): Result => ({ status: null, error, response: null });
