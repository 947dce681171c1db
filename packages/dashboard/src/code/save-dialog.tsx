import { Box, Group, Text } from '@mantine/core';
import { hasErrorStatus } from '../shell/api';
import { Notice } from '../ui/notice';
import { CHANGE_KIND_LABELS, type ChangeKind } from './files';
import { MessageDialog } from './message-dialog';

interface SaveDialogProps {
  kinds: ReadonlyMap<string, ChangeKind>;
  /** @throws ApiError 409 where another version was saved in between */
  onSave: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export const SaveDialog = ({ kinds, onSave, onClose }: SaveDialogProps) => (
  <MessageDialog
    title="Save new version"
    label="Change message"
    submit="Save version"
    failure="Version not saved"
    explain={(error) => hasErrorStatus(error, 409) && <ConflictNotice />}
    onSubmit={onSave}
    onClose={onClose}
  >
    <Box
      component="ul"
      className="wrap-anywhere"
      mah="12rem"
      fz="sm"
      style={{ overflow: 'auto' }}
      aria-label="Changed files"
    >
      {[...kinds].map(([path, kind]) => (
        <Group key={path} component="li" gap="sm" align="stretch" justify="space-between" wrap="nowrap" py={4}>
          <code>{path}</code>{' '}
          <Text span c="dimmed">
            {CHANGE_KIND_LABELS[kind]}
          </Text>
        </Group>
      ))}
    </Box>
  </MessageDialog>
);

const ConflictNotice = () => (
  <Notice tone="error" title="A newer version was saved">
    Your changes haven’t been lost. Close this dialog to compare the versions.
  </Notice>
);
