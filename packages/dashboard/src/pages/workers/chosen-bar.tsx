import { Box, Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { WorkerItem } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { PauseIcon, PlayIcon } from '../../ui/icons';
import { moveWorker } from '../../workers/pause-button';
import { refreshWorkers } from '../../workers/use-worker';
import styles from './workers-page.module.css';

type Move = 'pause' | 'resume';

const AT_ONCE = 4;
const DONE: Record<Move, string> = { pause: 'paused', resume: 'resumed' };

const counted = (count: number): string => (count === 1 ? '1 worker' : `${count} workers`);

/** Pauses or resumes the selected workers. */
export function ChosenBar({ workers, onClear }: { workers: WorkerItem[]; onClear: () => void }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ move, ids }: { move: Move; ids: string[] }) => {
      const outcomes = await moveAll(ids, move);
      await refreshWorkers(queryClient, workspaceId);
      return outcomes;
    },
    onSuccess: ({ moved, refused }, { move }) => {
      const back = move === 'pause' ? 'resume' : 'pause';
      if (moved.length) {
        const undo = () => change.mutate({ move: back, ids: moved });
        toast(`${counted(moved.length)} ${DONE[move]}`, { undo });
      }
      const [first] = refused;
      if (first) toast(`${counted(refused.length)} not ${DONE[move]}: ${first}`, { tone: 'error' });
    },
  });
  const active = workers.filter(({ status }) => status === 'active').map(({ id }) => id);
  const paused = workers.filter(({ status }) => status === 'paused').map(({ id }) => id);
  if (workers.length === 0) return null;
  return (
    <div className={styles.chosen} role="toolbar" aria-label="Chosen workers">
      <Box component="span" me="auto" fw={600} fz="sm">
        {workers.length} chosen
      </Box>
      {active.length > 0 && (
        <Button
          variant="default"
          leftSection={<PauseIcon />}
          loading={change.isPending}
          onClick={() => change.mutate({ move: 'pause', ids: active })}
        >
          Pause
        </Button>
      )}
      {paused.length > 0 && (
        <Button
          variant="default"
          leftSection={<PlayIcon />}
          loading={change.isPending}
          onClick={() => change.mutate({ move: 'resume', ids: paused })}
        >
          Resume
        </Button>
      )}
      <Button variant="subtle" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}

/** Changes a few at a time. @returns the changed ids, and the errors of the others */
async function moveAll(ids: string[], move: Move): Promise<{ moved: string[]; refused: string[] }> {
  const left = [...ids];
  const moved: string[] = [];
  const refused: string[] = [];
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await moveWorker(id, move);
        moved.push(id);
      } catch (error) {
        refused.push(error instanceof Error ? error.message : String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { moved, refused };
}
