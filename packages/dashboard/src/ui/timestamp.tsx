import { useEffect, useState } from 'react';
import { formatAbsoluteTime, formatRelativeTime } from './format';

const REFRESH_MS = 30_000;

/** Shows a relative time, with the exact one for machines and on hover. */
export function Timestamp({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatAbsoluteTime(at)}>
      {formatRelativeTime(at, Math.max(now, Date.now()))}
    </time>
  );
}
