import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { toast } from '../shell/toasts';
import type { Draft } from './use-draft';

interface DraftBarProps {
  draft: Draft;
  canEdit: boolean;
  canSave: boolean;
  onSave: () => void;
  /** Button that everyone who can read the files has. */
  download: ReactNode;
  /** Further buttons of members who can edit. */
  children?: ReactNode;
}

/** Says how many files of a draft are changed, and discards or saves the changes. */
export function DraftBar({ draft, canEdit, canSave, onSave, download, children }: DraftBarProps) {
  const { base, files, changes, write } = draft;

  function discard() {
    write(base);
    toast('Changes discarded', { undo: () => write(files) });
  }

  return (
    <Group gap="sm" justify="space-between">
      <Text fz="sm" c="dimmed" role="status">
        {canEdit ? formatChangeSummary(changes.length) : 'You have read-only access to these files.'}
      </Text>
      <Group gap="xs">
        {download}
        {canEdit && (
          <>
            {children}
            <Button variant="default" disabled={changes.length === 0} onClick={discard}>
              Discard changes
            </Button>
            <Button disabled={!canSave} onClick={onSave}>
              Save version
            </Button>
          </>
        )}
      </Group>
    </Group>
  );
}

function formatChangeSummary(changeCount: number): string {
  if (changeCount === 0) return 'No changes.';
  return changeCount === 1 ? '1 unsaved file.' : `${changeCount} unsaved files.`;
}
