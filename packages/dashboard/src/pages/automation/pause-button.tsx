import { Button } from '@mantine/core';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import type { Page } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { PauseIcon, PlayIcon } from '../../ui/icons';

/** Pauses an automation, so that it starts no runs at all, or resumes it; with Undo. */
export function PauseButton({
  automation: { id, name, status },
}: {
  automation: Pick<Page, 'id' | 'name' | 'status'>;
}) {
  const role = useWorkspace()?.role;
  const change = useUpdateAutomation(id);
  if (role === undefined || role === 'viewer' || status === 'archived') return null;
  const isPaused = status === 'paused';

  function setStatus(newStatus: 'active' | 'paused', canUndo: boolean) {
    change.mutate(
      { status: newStatus },
      {
        onSuccess: () =>
          toast(`${name} ${newStatus === 'paused' ? 'paused' : 'resumed'}`, {
            ...(canUndo && { undo: () => setStatus(newStatus === 'paused' ? 'active' : 'paused', false) }),
          }),
        onError: (error) =>
          toast(`${name} not ${newStatus === 'paused' ? 'paused' : 'resumed'}: ${error.message}`, { tone: 'error' }),
      },
    );
  }

  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={isPaused ? <PlayIcon /> : <PauseIcon />}
      loading={change.isPending}
      onClick={() => setStatus(isPaused ? 'active' : 'paused', true)}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  );
}
