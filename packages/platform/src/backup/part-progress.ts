import type { Progress } from '../launch/progress';

const REPORT_MS = 10_000;

export type PartProgress = ReturnType<typeof createPartProgress>;

export const formatSize = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;

export function createPartProgress(progress: Progress) {
  let current = '';
  let total = 0;
  const show = () => current && progress.step(`${current}: ${formatSize(total)}`);
  const timer = setInterval(show, REPORT_MS);
  return {
    /** More bytes of a part. Each part is shown every ten seconds, and once the next one begins. */
    count: (part: string, bytes: number) => {
      if (part !== current) {
        show();
        current = part;
        total = 0;
      }
      total += bytes;
    },
    end: () => {
      clearInterval(timer);
      show();
    },
  };
}
