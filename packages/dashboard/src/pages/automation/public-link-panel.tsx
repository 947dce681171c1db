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
      { onSuccess: () => toast('Link restricted to members', { undo: () => makePublic() }) },
    );
  const makePublic = () =>
    change.mutate(
      { visibility: 'public' },
      { onSuccess: () => toast('Anyone with the link can now run the automation') },
    );

  return (
    <Panel title="Public link">
      <Stack gap="md">
        <Text maw="60ch" c="dimmed" fz="sm">
          {isPublic
            ? 'Anyone with this link can view the form, run the automation with the workspace’s secrets, and see the runs they start. Nothing else in the workspace is visible.'
            : 'Only members of this workspace can open the link. If you make the automation public, anyone with the link can run it.'}
        </Text>
        <CopyableCode label={isPublic ? 'Public' : 'Members only'} code={automation.url} />
        <ErrorNotice title="Changes not saved" error={change.error} />
        {canEdit && (
          <Group gap="8px 12px">
            {isPublic ? (
              <Button variant="default" loading={change.isPending} onClick={makePrivate}>
                Make private
              </Button>
            ) : (
              <ConfirmButton
                label="Make public so that anyone with the link can run it"
                question="Make public now"
                busy={change.isPending}
                onConfirm={makePublic}
              >
                Make public
              </ConfirmButton>
            )}
          </Group>
        )}
      </Stack>
    </Panel>
  );
}
