/** The channels of alerts, for forms and lists. A new one is an entry here, and a word in ADDRESS_REQUIRED_MESSAGE. */
import type { TextInputProps } from '@mantine/core';
import { type Alert, type Delivery, getUrlHost } from './alert-labels';

type Channel = Delivery['channel'];

interface AlertChannel {
  label: string;
  /** The field of an alert that has the address. */
  field: 'url' | 'email_to';
  /** Whether the receiver verifies messages with the alert's signing secret. */
  isSigned: boolean;
  formatAddress: (address: string) => string;
  input: Pick<TextInputProps, 'type' | 'inputMode' | 'label' | 'description' | 'placeholder'>;
  /** Description of the field if the installation sends no email. Absent: the channel does not need it. */
  withoutMail?: string;
}

export const ALERT_CHANNELS: Record<Channel, AlertChannel> = {
  webhook: {
    label: 'Webhook',
    field: 'url',
    isSigned: true,
    formatAddress: getUrlHost,
    input: {
      type: 'url',
      inputMode: 'url',
      label: 'Webhook URL',
      description: 'Receives a signed POST request for each event. Must be reachable from the public internet.',
      placeholder: 'https://hooks.example.com/gantry',
    },
  },
  email: {
    label: 'Email',
    field: 'email_to',
    isSigned: false,
    formatAddress: (address) => address,
    input: {
      type: 'email',
      label: 'Email address',
      description: 'A personal address or a mailing list.',
      placeholder: 'oncall@example.com',
    },
    withoutMail: 'Email isn’t set up on this installation. Ask the operator to set it up.',
  },
};

export const ADDRESS_REQUIRED_MESSAGE = 'Enter a webhook URL or an email address.';

/** An alert's addresses. Null: it does not use the channel. */
export type AlertAddresses = Pick<Alert, AlertChannel['field']>;

export const alertChannelList = Object.values(ALERT_CHANNELS);

/** Lists the channels that the alert uses, with its addresses. */
export const listAlertAddresses = (alert: AlertAddresses): { channel: AlertChannel; address: string }[] =>
  alertChannelList.flatMap((channel) => {
    const address = alert[channel.field];
    return address?.trim() ? [{ channel, address: address.trim() }] : [];
  });

/** Lists the destinations of the alert: the host of its webhook, the address of its email. */
export const listAlertDestinations = (alert: AlertAddresses): string[] =>
  listAlertAddresses(alert).map(
    ({ channel: { label, formatAddress }, address }) => `${label} to ${formatAddress(address)}`,
  );

export const getAlertTitle = (alert: Alert): string => alert.description || listAlertDestinations(alert).join(', ');
