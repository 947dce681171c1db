import type { Addresses } from './channel';
import { email } from './email';
import { webhook } from './webhook';

export const channels = { webhook, email };
export type Channel = keyof typeof channels;

const names = Object.keys(channels) as Channel[];

/** Milliseconds. */
export const ATTEMPT_MS_MAX = Math.max(...names.map((name) => channels[name].attemptMsMax));

/** The channels used by an alert. */
export const listChannels = (alert: Addresses): Channel[] => names.filter((name) => channels[name].isUsedBy(alert));
