/** Reads the logos of the services in the catalogue from Simple Icons, while the dashboard is built. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Names of icons by the service's slug. */
const ICONS = {
  airtable: 'airtable',
  asana: 'asana',
  discord: 'discord',
  dropbox: 'dropbox',
  figma: 'figma',
  github: 'github',
  gitlab: 'gitlab',
  gmail: 'gmail',
  'google-calendar': 'googlecalendar',
  'google-drive': 'googledrive',
  'google-sheets': 'googlesheets',
  hubspot: 'hubspot',
  jira: 'jira',
  linear: 'linear',
  'microsoft-365': 'microsoftoffice',
  notion: 'notion',
  pagerduty: 'pagerduty',
  salesforce: 'salesforce',
  sentry: 'sentry',
  shopify: 'shopify',
  slack: 'slack',
  stripe: 'stripe',
  zoom: 'zoom',
};

/** @returns SVG path data in a box of 24 by 24, by slug. @throws Error naming an icon that is missing */
export function readServiceLogos(): Record<string, string> {
  const file = createRequire(import.meta.url).resolve('@iconify-json/simple-icons/icons.json');
  const { icons } = JSON.parse(readFileSync(file, 'utf8')) as { icons: Record<string, { body: string }> };
  return Object.fromEntries(
    Object.entries(ICONS).map(([slug, icon]) => {
      const path = / d="([^"]+)"/.exec(icons[icon]?.body ?? '')?.[1];
      if (!path) throw new Error(`Simple Icons has no path for ${icon}`);
      return [slug, path];
    }),
  );
}
