import { Box, Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Notice } from '../ui/notice';
import type { FileContent } from './files';

/** A file of a draft that a page shows and edits. */
export interface DraftFileProps {
  path: string;
  /** Undefined: deleted. */
  content: FileContent | undefined;
  /** Absent: read-only. */
  onChange: ((text: string) => void) | undefined;
  onSave: () => void;
  onRestore: () => void;
}

interface FilePaneProps {
  path: string;
  /** A button beside the path. */
  action?: ReactNode;
  children: ReactNode;
}

/** Shows the selected file of a tree, below its path. */
export function FilePane({ path, action, children }: FilePaneProps) {
  return (
    <Stack component="section" gap="xs" miw={0} aria-label={path}>
      <Group gap="sm" justify="space-between" wrap="nowrap" mih="2rem">
        <Box component="h2" className="wrap-anywhere" miw={0} ff="monospace" fz="sm" fw={600}>
          {path}
        </Box>
        {action}
      </Group>
      {children}
    </Stack>
  );
}

interface ViewToggleProps {
  isOn: boolean;
  onToggle: (isOn: boolean) => void;
  /** Labels of the button while the other view is on, and while it is off. */
  labels: { on: string; off: string };
}

/** Switches between the editor and another view of the file. */
export const ViewToggle = ({ isOn, onToggle, labels }: ViewToggleProps) => (
  <Button size="compact-sm" variant="default" aria-pressed={isOn} onClick={() => onToggle(!isOn)}>
    {isOn ? labels.on : labels.off}
  </Button>
);

/** Replaces a file that the draft deletes. @param from the resource that has the file: `worker` */
export function DeletedFileNotice({ from, onRestore }: { from: string; onRestore: () => void }) {
  return (
    <Notice
      tone="info"
      title="Deleted in your draft"
      action={
        <Button variant="default" onClick={onRestore}>
          Restore
        </Button>
      }
    >
      This file will be removed from the {from} when you save.
    </Notice>
  );
}
