import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from 'react-router';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import type { Automation } from '../../shell/api';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

/** Archives an automation, which leaves the list and keeps its history, or restores it. */
export function ArchivePanel({ automation }: { automation: Automation }) {
  const { id, name, status } = automation;
  const navigate = useNavigate();
  const change = useUpdateAutomation(id);
  const restore = () => change.mutate({ status: 'active' }, { onSuccess: () => toast(`${name} restored`) });
  const archive = () =>
    change.mutate(
      { status: 'archived' },
      {
        onSuccess: () => {
          navigate(paths.automations);
          toast(`${name} archived`, { undo: restore });
        },
      },
    );
  return (
    <Panel title={status === 'archived' ? 'Archived' : 'Archive'}>
      <Stack gap="md">
        <Text maw="60ch" c="dimmed" fz="sm">
          {status === 'archived'
            ? 'Archived automations can’t run. Once this automation is restored, its schedule and link work as before.'
            : 'Archiving hides the automation, stops new runs and disables its link. Runs and versions are kept, and you can restore it later.'}
        </Text>
        <ErrorNotice title="Changes not saved" error={change.error} />
        <Group gap="8px 12px">
          {status === 'archived' ? (
            <Button loading={change.isPending} onClick={restore}>
              Restore
            </Button>
          ) : (
            <ConfirmButton label={`Archive ${name}`} question="Archive now" busy={change.isPending} onConfirm={archive}>
              Archive
            </ConfirmButton>
          )}
        </Group>
      </Stack>
    </Panel>
  );
}
