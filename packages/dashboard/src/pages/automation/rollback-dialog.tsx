import { Button, Group, Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { automationKeys } from '../../automations/automation-keys';
import { api, type Page } from '../../shell/api';
import { ErrorNotice } from '../../ui/notice';

interface RollbackDialogProps {
  page: Page;
  version: number;
  onClose: () => void;
  onDone: () => void;
}

export default function RollbackDialog({ page, version, onClose, onDone }: RollbackDialogProps) {
  const queryClient = useQueryClient();
  const rollback = useMutation({
    mutationFn: () =>
      api.automation.POST('/api/automations/{automationId}/rollback', {
        params: { path: { automationId: page.id } },
        body: { version },
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: automationKeys.page(page.id) });
      onDone();
      onClose();
    },
  });
  return (
    // Locking the scroll of the page behind needs an inline style sheet, which the page's CSP forbids.
    <Modal.Root opened onClose={onClose} centered lockScroll={false} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body display="grid" p="lg" style={{ gap: 'var(--space-4)' }}>
          <Modal.Title>Roll back to version {version}?</Modal.Title>
          <p>
            New runs will use version {version} instead of version {page.currentVersion}. Runs already in progress
            aren’t affected. You can return to version {page.currentVersion} at any time.
          </p>
          <ErrorNotice title="Rollback failed" error={rollback.error} />
          <Group gap="xs" align="stretch" justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Keep version {page.currentVersion}
            </Button>
            <Button loading={rollback.isPending} onClick={() => rollback.mutate()}>
              Roll back
            </Button>
          </Group>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
