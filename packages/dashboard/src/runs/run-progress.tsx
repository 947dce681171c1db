import { Box, Stack } from '@mantine/core';
import type { LiveRun } from './live-run';
import styles from './run-view.module.css';

/** Shows the progress that the run reports; an indeterminate bar while it reports none. */
export function RunProgress({ live, isFinished }: { live: LiveRun; isFinished: boolean }) {
  if (isFinished) return null;
  const { progress } = live;
  const percent = progress && Math.round(progress.fraction * 100);
  return (
    <Stack gap={4} mt="-sm">
      <Box
        className={styles.track}
        pos="relative"
        h={6}
        bdrs={3}
        bg="var(--idle-wash)"
        style={{ overflow: 'hidden' }}
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent ?? undefined}
        data-unknown={progress === null || undefined}
      >
        <span className={styles.fill} style={progress ? { transform: `scaleX(${progress.fraction})` } : undefined} />
      </Box>
      <Box component="p" className="caption" mih="1.25rem">
        {live.interrupted
          ? 'Connection lost, but the run continues. Reconnecting…'
          : progress && `${percent}%${progress.message ? ` · ${progress.message}` : ''}`}
      </Box>
    </Stack>
  );
}
