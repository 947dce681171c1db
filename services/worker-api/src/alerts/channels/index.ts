import { invalid, runChecks } from '@gantry/errors';
import type { AlertDeps } from '../alert-deps';
import type { AlertAddresses, AlertChannel } from './channel';
import { email } from './email';
import { webhook } from './webhook';

const definitions = { webhook, email } satisfies Record<string, AlertChannel>;
const NO_ADDRESS_MESSAGE = 'an alert needs url, email_to or both';

export type Channel = keyof typeof definitions;
export const channels: Record<Channel, AlertChannel> = definitions;
export const channelNames = Object.keys(channels) as Channel[];

/** The addresses in a request. Absent: unchanged; null removes the channel. */
export type AddressInput = { [Name in (typeof definitions)[Channel]['field']]?: string | null | undefined };

/** Milliseconds. */
export const ATTEMPT_MS_MAX = Math.max(...channelNames.map((name) => channels[name].attemptMsMax));

/** Lists the channels used by an alert. */
export const listChannels = (alert: AlertAddresses): Channel[] =>
  channelNames.filter((name) => alert[channels[name].column] !== null);

/** Returns whether the alert needs a signing secret. */
export const isSigningRequired = (alert: AlertAddresses): boolean =>
  listChannels(alert).some((name) => channels[name].isSigned);

/** Fields of the API whose address receives signed messages. */
export const signedFields = channelNames.flatMap((name) => (channels[name].isSigned ? channels[name].field : []));

/** Part of a query: the columns of the addresses, named as in `AlertAddresses`. @param alert alias of the table */
export const buildAddressColumnsSql = (alert: string): string =>
  channelNames.map((name) => `${alert}.${channels[name].field} AS "${channels[name].column}"`).join(', ');

export const EMPTY_ADDRESSES = mapAddresses(() => null);

/** Returns the addresses after a change, without validation. */
export const mergeAddresses = (input: AddressInput, before: AlertAddresses): AlertAddresses =>
  mapAddresses((channel) => {
    const address = findInputAddress(input, channel);
    return address === undefined ? before[channel.column] : address;
  });

/**
 * Validates the addresses of a request; the others are those of `merged`.
 * @throws AppError 400 naming each invalid field; what `parseAddress` throws
 */
export function parseAddresses(
  input: AddressInput,
  merged: AlertAddresses,
  deps: Pick<AlertDeps, 'mailer' | 'outboundAllow'>,
): AlertAddresses {
  const parsed = runChecks(
    ...channelNames.map((name) => () => {
      const { column, parseAddress } = channels[name];
      const address = findInputAddress(input, channels[name]);
      return [column, address ? parseAddress(address, deps) : merged[column]] as const;
    }),
  );
  return Object.fromEntries(parsed) as AlertAddresses;
}

/** @throws AppError 400 */
export function requireAddress(alert: AlertAddresses): void {
  if (listChannels(alert).length === 0)
    throw invalid([{ path: definitions.webhook.field, message: NO_ADDRESS_MESSAGE }]);
}

/** Maps addresses to their fields of the API. @param isMasked for callers who may not change the alert */
export const addressesToApi = (
  alert: AlertAddresses,
  { isMasked }: { isMasked: boolean },
): Record<string, string | null> =>
  Object.fromEntries(
    channelNames.map((name) => {
      const { field, column, maskAddress } = channels[name];
      const address = alert[column];
      return [field, address !== null && isMasked && maskAddress ? maskAddress(address) : address];
    }),
  );

const findInputAddress = (input: AddressInput, { field }: AlertChannel) => input[field as keyof AddressInput];

function mapAddresses(toAddress: (channel: AlertChannel) => string | null): AlertAddresses {
  return Object.fromEntries(
    channelNames.map((name) => [channels[name].column, toAddress(channels[name])]),
  ) as AlertAddresses;
}
