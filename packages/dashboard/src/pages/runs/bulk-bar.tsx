import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { Failure } from '../../ui/notice';
import { type BulkResult, cancelAll, replayAll } from './bulk-runs';
import type { RunRow } from './run-row';
import styles from './runs-page.module.css';

/** The limit of the worker API for one call. */
const SELECTED_MAX = 1_000;

interface BulkBarProps {
  workspaceId: string | undefined;
  selected: RunRow[];
  onClear: () => void;
}

const runs = (count: number): string => (count === 1 ? '1 run' : `${count} runs`);

function say(what: string, { changed, refused }: BulkResult): void {
  const left = refused.length > 0 ? `. Failed for ${runs(refused.length)}: ${refused[0]}` : '';
  toast(`${runs(changed)} ${what}${left}`, { tone: refused.length > 0 ? 'error' : 'info' });
}

export function BulkBar({ workspaceId, selected, onClear }: BulkBarProps) {
  const queryClient = useQueryClient();
  const underWay = selected.filter(({ isOver }) => !isOver);
  const ended = selected.filter(({ isOver }) => isOver);
  const done = {
    onSuccess: onClear,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs', workspaceId] }),
  };
  const cancel = useMutation({
    mutationFn: async () => say('cancelled', await cancelAll(underWay.slice(0, SELECTED_MAX))),
    ...done,
  });
  const replay = useMutation({
    mutationFn: async () => say('started again', await replayAll(ended.slice(0, SELECTED_MAX))),
    ...done,
  });

  return (
    <div className={styles.bulk} role="toolbar" aria-label="Selected runs">
      <p role="status">{runs(selected.length)} selected</p>
      {underWay.length > 0 && (
        <ConfirmButton
          label={`Cancel ${runs(underWay.length)}`}
          question={`Cancel ${runs(underWay.length)}`}
          busy={cancel.isPending}
          onConfirm={() => cancel.mutate()}
        >
          {`Cancel ${underWay.length}`}
        </ConfirmButton>
      )}
      {ended.length > 0 && (
        <Button variant="default" loading={replay.isPending} onClick={() => replay.mutate()}>
          Run {ended.length} again
        </Button>
      )}
      <Button variant="default" onClick={onClear}>
        Clear selection
      </Button>
      <Failure title="Not all was done" error={cancel.error ?? replay.error} />
    </div>
  );
}
