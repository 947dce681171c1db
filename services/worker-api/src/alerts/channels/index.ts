import { invalid, runChecks } from '@gantry/errors';
import type { AlertDeps } from '../alert-deps';
import type { Addresses, AlertChannel } from './channel';
import { email } from './email';
import { webhook } from './webhook';

const definitions = { webhook, email } satisfies Record<string, AlertChannel>;
const NO_ADDRESS = 'an alert needs a url, an email_to or both';

export type Channel = keyof typeof definitions;
export const channels: Record<Channel, AlertChannel> = definitions;
export const channelNames = Object.keys(channels) as Channel[];

/** The addresses in a request. Absent: unchanged; null removes the channel. */
export type AddressInput = { [Name in (typeof definitions)[Channel]['field']]?: string | null | undefined };

/** Milliseconds. */
export const ATTEMPT_MS_MAX = Math.max(...channelNames.map((name) => channels[name].attemptMsMax));

/** Lists the channels used by an alert. */
export const listChannels = (alert: Addresses): Channel[] =>
  channelNames.filter((name) => alert[channels[name].column] !== null);

/** Returns whether the alert needs a signing secret. */
export const isSigned = (alert: Addresses): boolean => listChannels(alert).some((name) => channels[name].isSigned);

/** Fields of the API whose address receives signed messages. */
export const signedFields = channelNames.flatMap((name) => (channels[name].isSigned ? channels[name].field : []));

/** Part of a query: the columns of the addresses, named as in `Addresses`. @param alert alias of the table */
export const addressColumnsSql = (alert: string): string =>
  channelNames.map((name) => `${alert}.${channels[name].field} AS "${channels[name].column}"`).join(', ');

export const NO_ADDRESSES = mapAddresses(() => null);

export const selectAddresses = (alert: Addresses): Addresses => mapAddresses(({ column }) => alert[column]);

/** Returns the addresses after a change, without validation. */
export const mergeAddresses = (input: AddressInput, before: Addresses): Addresses =>
  mapAddresses((channel) => {
    const address = getInputAddress(input, channel);
    return address === undefined ? before[channel.column] : address;
  });

/**
 * Validates the addresses of a request; the others are those of `merged`.
 * @throws AppError 400 naming each invalid field; what `parseAddress` throws
 */
export function parseAddresses(
  input: AddressInput,
  merged: Addresses,
  deps: Pick<AlertDeps, 'mailer' | 'outboundAllow'>,
): Addresses {
  const parsed = runChecks(
    ...channelNames.map((name) => () => {
      const { column, parseAddress } = channels[name];
      const address = getInputAddress(input, channels[name]);
      return [column, address ? parseAddress(address, deps) : merged[column]] as const;
    }),
  );
  return Object.fromEntries(parsed) as Addresses;
}

/** @throws AppError 400 */
export function requireAddress(alert: Addresses): void {
  if (listChannels(alert).length === 0) throw invalid([{ path: definitions.webhook.field, message: NO_ADDRESS }]);
}

/** Maps addresses to their fields of the API. @param isMasked for callers who may not change the alert */
export const addressesToApi = (alert: Addresses, { isMasked }: { isMasked: boolean }): Record<string, string | null> =>
  Object.fromEntries(
    channelNames.map((name) => {
      const { field, column, maskAddress } = channels[name];
      const address = alert[column];
      return [field, address !== null && isMasked && maskAddress ? maskAddress(address) : address];
    }),
  );

const getInputAddress = (input: AddressInput, { field }: AlertChannel) => input[field as keyof AddressInput];

function mapAddresses(toAddress: (channel: AlertChannel) => string | null): Addresses {
  return Object.fromEntries(
    channelNames.map((name) => [channels[name].column, toAddress(channels[name])]),
  ) as Addresses;
}
