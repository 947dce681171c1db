/** Every service that the platform knows, by its slug. */
import { hubspot, salesforce, shopify, stripe } from './business';
import { github, gitlab, pagerduty, sentry } from './code';
import { airtable, dropbox, figma, notion } from './documents';
import { gmail, googleCalendar, googleDrive, googleSheets } from './google';
import { discord, microsoft, slack, zoom } from './messaging';
import { asana, jira, linear } from './planning';
import type { Provider } from './provider';

export const providers: readonly Provider[] = [
  ...[github, gitlab, sentry, pagerduty],
  ...[gmail, googleDrive, googleCalendar, googleSheets],
  ...[microsoft, slack, discord, zoom],
  ...[notion, airtable, dropbox, figma],
  ...[linear, jira, asana],
  ...[hubspot, salesforce, stripe, shopify],
];

const providersBySlug = new Map(providers.map((provider) => [provider.slug, provider]));

export const findProvider = (slug: string): Provider | undefined => providersBySlug.get(slug);

/** Slugs under which OAuth clients of the catalogue are set. */
export const catalogApps: ReadonlySet<string> = new Set(providers.map(({ app }) => app));
