/**
 * A delivery channel: everything that distinguishes it from the others, except what its users see and write.
 *
 * To add one, write
 * - a file here; its name, and the sentence about missing addresses, are in index.ts
 * - a column of `alerts` (schema.prisma and a migration), and its name in `AlertAddresses`
 * - in OpenAPI its name in `AlertChannel`, and its address in `Alert` and in the three bodies of paths/alerts.yaml
 * - in the dashboard an entry and a word of alerts/alert-channels.ts
 * - in the command line a field of workspace-alerts.ts and workspace-plan.ts, and a column of commands/lists.ts
 */
import type { Alert } from '../../generated/prisma/client';
import type { AlertDeps } from '../alert-deps';
import type { AttemptResult } from '../delivery';

export type ChannelDeps = Pick<
  AlertDeps,
  'prisma' | 'hasher' | 'vault' | 'mailer' | 'outboundAllow' | 'dashboardUrl' | 'now'
>;

/** An alert's addresses, one column per channel. Null: it does not use the channel. */
export type AlertAddresses = Pick<Alert, 'url' | 'emailTo'>;

export interface OutgoingAlert {
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
  /** The address: as a field of the API, whose name is the column's in SQL, and as a field of the row. */
  field: string;
  column: keyof AlertAddresses;
  /** @throws AppError 400 naming the field; 409 if this installation lacks what the channel needs */
  parseAddress(address: string, deps: Pick<AlertDeps, 'mailer' | 'outboundAllow'>): string;
  /** Hides the secret part of an address from callers who may not change it. Absent: no part is secret. */
  maskAddress?(address: string): string;
  /** Whether its messages are signed, so that an alert with it has a signing secret. */
  isSigned: boolean;
  /** Limits the deliveries of one alert; those above it are dead letters at once. Absent: no limit. */
  hourlyLimit?: { max: number; error: string };
  /** The response of a receiver that no longer exists: the alert is disabled, with this reason. */
  gone?: { status: number; reason: string };
  /** Upper bound for one attempt, in milliseconds. */
  attemptMsMax: number;
  /** One attempt. Never throws for failures of the receiver or the network. */
  send(deps: ChannelDeps, address: string, outgoing: OutgoingAlert): Promise<SendResult>;
}

export const toFailedResult = (error: string): SendResult => ({ status: null, error, response: null });
