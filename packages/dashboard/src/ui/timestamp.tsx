import { formatAbsoluteTime, formatRelativeTime } from './format';
import { useNow } from './use-now';

const REFRESH_MS = 30_000;

/** Shows a relative time, with the exact one for machines and on hover. */
export function Timestamp({ at }: { at: number }) {
  const now = useNow(REFRESH_MS);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatAbsoluteTime(at)}>
      {formatRelativeTime(at, Math.max(now, Date.now()))}
    </time>
  );
}
