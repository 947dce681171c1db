import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useInvalidateRuns } from '../../runs/worker-runs';
import { toast } from '../../shell/toasts';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { ErrorNotice } from '../../ui/notice';
import { SelectionBar } from '../../ui/selection-bar';
import { type BulkResult, cancelRuns, replayRuns } from './bulk-runs';
import type { RunRow } from './run-row';

/** The limit of the worker API for one call. */
const SELECTED_MAX = 1_000;

interface RunBulkActionBarProps {
  selected: RunRow[];
  onClear: () => void;
}

const formatRunCount = (count: number): string => (count === 1 ? '1 run' : `${count} runs`);

function toastResult(action: string, { changed, refused }: BulkResult): void {
  const failureText = refused.length > 0 ? `. Failed for ${formatRunCount(refused.length)}: ${refused[0]}` : '';
  toast(`${formatRunCount(changed)} ${action}${failureText}`, { tone: refused.length > 0 ? 'error' : 'info' });
}

export function RunBulkActionBar({ selected, onClear }: RunBulkActionBarProps) {
  const invalidateRuns = useInvalidateRuns();
  const activeRuns = selected.filter(({ isOver }) => !isOver);
  const endedRuns = selected.filter(({ isOver }) => isOver);
  const mutationOptions = { onSuccess: onClear, onSettled: invalidateRuns };
  const cancel = useMutation({
    mutationFn: async () => toastResult('cancelled', await cancelRuns(activeRuns.slice(0, SELECTED_MAX))),
    ...mutationOptions,
  });
  const replay = useMutation({
    mutationFn: async () => toastResult('restarted', await replayRuns(endedRuns.slice(0, SELECTED_MAX))),
    ...mutationOptions,
  });

  return (
    <SelectionBar label="Selected runs" count={`${formatRunCount(selected.length)} selected`} onClear={onClear}>
      {activeRuns.length > 0 && (
        <ConfirmButton
          label={`Cancel ${formatRunCount(activeRuns.length)}`}
          question={`Cancel ${formatRunCount(activeRuns.length)}`}
          {...toAction(cancel)}
        >
          {`Cancel ${activeRuns.length}`}
        </ConfirmButton>
      )}
      {endedRuns.length > 0 && (
        <Button variant="default" loading={replay.isPending} onClick={() => replay.mutate()}>
          Run {endedRuns.length} again
        </Button>
      )}
      <ErrorNotice title="Some runs weren’t updated" error={cancel.error ?? replay.error} />
    </SelectionBar>
  );
}
