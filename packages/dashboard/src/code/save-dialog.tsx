import { Box, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { isStatus } from '../shell/api';
import { FormDialog } from '../ui/form-dialog';
import { Notice } from '../ui/notice';
import styles from './editing.module.css';
import type { ChangeKind } from './files';

const MESSAGE_CHARS_MAX = 500;
const KIND_WORDS: Record<ChangeKind, string> = { added: 'Added', modified: 'Changed', deleted: 'Deleted' };

interface SaveDialogProps {
  kinds: ReadonlyMap<string, ChangeKind>;
  /** @throws ApiError 409 where another version was saved in between */
  onSave: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export function SaveDialog({ kinds, onSave, onClose }: SaveDialogProps) {
  const [message, setMessage] = useState('');
  const save = useMutation({ mutationFn: () => onSave(message.trim() || undefined), onSuccess: onClose });
  const isConflict = isStatus(save.error, 409);
  return (
    <FormDialog
      title="Save as a new version"
      submit="Save version"
      change={{ isPending: save.isPending, error: isConflict ? null : save.error }}
      failure="Not saved"
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Box
        component="ul"
        className={styles.changed}
        mah="12rem"
        fz="sm"
        style={{ overflow: 'auto' }}
        aria-label="Changed files"
      >
        {[...kinds].map(([path, kind]) => (
          <li key={path}>
            <code>{path}</code> <span>{KIND_WORDS[kind]}</span>
          </li>
        ))}
      </Box>
      <TextInput
        label="Change message"
        description="Optional. Shown in the history."
        maxLength={MESSAGE_CHARS_MAX}
        autoFocus
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      {isConflict && (
        <Notice tone="error" title="Another version has been saved">
          Your changes are kept. Close this dialog to compare the versions.
        </Notice>
      )}
    </FormDialog>
  );
}
