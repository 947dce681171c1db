import { Button, Group, Stack, Text } from '@mantine/core';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import type { Automation } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { CopyableCode } from '../../ui/copyable-code';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

/** Makes an automation public, after a confirmation, or private again. */
export function PublicLinkPanel({ automation, canEdit }: { automation: Automation; canEdit: boolean }) {
  const change = useUpdateAutomation(automation.id);
  const isPublic = automation.visibility === 'public';

  const makePrivate = () =>
    change.mutate(
      { visibility: 'private' },
      { onSuccess: () => toast('The link works for members only', { undo: () => makePublic() }) },
    );
  const makePublic = () =>
    change.mutate({ visibility: 'public' }, { onSuccess: () => toast('Anyone with the link may run it now') });

  return (
    <Panel title="Public link">
      <Stack gap="md">
        <Text maw="60ch" c="dimmed" fz="sm">
          {isPublic
            ? 'Anyone with this link sees the form, runs the automation with the workspace’s secrets, and sees the runs that they start. Nothing else of the workspace is shown.'
            : 'Only members of this workspace can open the link. If you make it public, anyone with it can run the automation.'}
        </Text>
        <CopyableCode label={isPublic ? 'For anyone' : 'For members'} code={automation.url} />
        <ErrorNotice title="Nothing was changed" error={change.error} />
        {canEdit && (
          <Group gap="8px 12px">
            {isPublic ? (
              <Button variant="default" loading={change.isPending} onClick={makePrivate}>
                Make it private
              </Button>
            ) : (
              <ConfirmButton
                label="Make it public, to anyone with the link"
                question="Let anyone run it"
                busy={change.isPending}
                onConfirm={makePublic}
              >
                Make it public
              </ConfirmButton>
            )}
          </Group>
        )}
      </Stack>
    </Panel>
  );
}
