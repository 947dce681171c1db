/** Reads the logos of the services in the catalogue from Simple Icons, while the dashboard is built. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { HUES } from './src/connections/hue-style';

/** Names of icons that differ from the service's slug without hyphens. */
const ICON_NAMES: Record<string, string> = { 'microsoft-365': 'microsoftoffice' };

/** @returns SVG path data in a box of 24 by 24, by slug. @throws Error naming an icon that is missing */
export function readServiceLogos(): Record<string, string> {
  const file = createRequire(import.meta.url).resolve('@iconify-json/simple-icons/icons.json');
  const { icons } = JSON.parse(readFileSync(file, 'utf8')) as { icons: Record<string, { body: string }> };
  return Object.fromEntries(
    Object.keys(HUES).map((slug) => {
      const icon = ICON_NAMES[slug] ?? slug.replaceAll('-', '');
      const path = / d="([^"]+)"/.exec(icons[icon]?.body ?? '')?.[1];
      if (!path) throw new Error(`Simple Icons has no path for ${icon}`);
      return [slug, path];
    }),
  );
}
