/** Formats times and sizes in the language of the browser. */

const dateTimeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relativeTimeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

export const formatAbsoluteTime = (at: number): string => dateTimeFormat.format(at);

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** @param month `2026-01` */
export const formatMonth = (month: string): string => monthFormat.format(new Date(`${month}-01`));

const SPANS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Formats "5 minutes ago", "in 2 hours", "just now". */
export function formatRelativeTime(at: number, now: number): string {
  for (const [unit, span] of SPANS) {
    const distance = (at - now) / span;
    // Rounded, since 90 days that began a second ago are still 90 days.
    if (Math.abs(distance) >= 1) return relativeTimeFormat.format(Math.round(distance), unit);
  }
  return 'just now';
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${formatNumber(Math.floor(seconds / 3_600))} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

export function formatFileSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export const formatNumber = (value: number): string =>
  new Intl.NumberFormat(undefined, { maximumSignificantDigits: 12 }).format(value);

/** Formats the ticks of an axis of whole numbers; empty for those in between. */
export const formatWholeNumber = (value: number): string => (Number.isInteger(value) ? formatNumber(value) : '');

/** Formats `1 call`, `2 calls`. @param noun the singular noun */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;

const currencyFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Formats an amount rounded to cents. */
export const formatRoundedDollars = (usd: number): string => currencyFormat.format(usd);

/** Formats an amount that may be a fraction of a cent. */
export function formatDollars(usd: number): string {
  if (usd > 0 && usd < 0.0001) return '< $0.0001';
  const isCents = usd > 0 && Math.abs(usd * 100 - Math.round(usd * 100)) < 1e-9;
  return usd < 1 && !isCents ? `$${formatNumber(Number(usd.toFixed(4)))}` : currencyFormat.format(usd);
}

/** Formats a share from 0 to 1, rounded down so that only 1 is 100 %. */
export const formatPercent = (share: number): string => `${Math.floor(share * 100)}%`;
