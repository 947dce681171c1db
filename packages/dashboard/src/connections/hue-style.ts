import type { CSSProperties } from 'react';

/** Hues in degrees of OKLCH, near the colours by which people know the services. Each service here has a logo. */
export const HUES: Record<string, number> = {
  airtable: 85,
  asana: 20,
  discord: 275,
  dropbox: 258,
  figma: 35,
  github: 285,
  gitlab: 45,
  gmail: 28,
  'google-calendar': 255,
  'google-drive': 150,
  'google-sheets': 155,
  hubspot: 40,
  jira: 260,
  linear: 280,
  'microsoft-365': 240,
  notion: 70,
  pagerduty: 145,
  salesforce: 235,
  sentry: 300,
  shopify: 130,
  slack: 330,
  stripe: 283,
  zoom: 257,
};
const DEFAULT_HUE = 220;

/** Sets the hue of a service's mark; its lightness follows the theme, so that the letters stay readable. */
export const buildHueStyle = (slug: string): CSSProperties =>
  ({ '--hue': new Map(Object.entries(HUES)).get(slug) ?? DEFAULT_HUE }) as CSSProperties;
