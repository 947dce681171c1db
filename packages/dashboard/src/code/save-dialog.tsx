import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { isStatus } from '../shell/api';
import { Dialog } from '../ui/dialog';
import { Failure, Notice } from '../ui/notice';
import styles from './editing.module.css';
import type { ChangeKind } from './files';

const MESSAGE_CHARS_MAX = 500;
const KIND_WORDS: Record<ChangeKind, string> = { added: 'Added', modified: 'Changed', deleted: 'Deleted' };

interface SaveDialogProps {
  kinds: ReadonlyMap<string, ChangeKind>;
  /** @throws ApiError 409 where somebody else was first */
  onSave: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export function SaveDialog({ kinds, onSave, onClose }: SaveDialogProps) {
  const [message, setMessage] = useState('');
  const save = useMutation({ mutationFn: () => onSave(message.trim() || undefined), onSuccess: onClose });
  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate();
  }
  return (
    <Dialog title="Save as a new version" onClose={onClose}>
      <form className={styles.save} onSubmit={submit}>
        <ul className={styles.changed} aria-label="Changed files">
          {[...kinds].map(([path, kind]) => (
            <li key={path}>
              <code>{path}</code> <span>{KIND_WORDS[kind]}</span>
            </li>
          ))}
        </ul>
        <TextInput
          label="What changes"
          description="The history shows it. It may stay empty."
          maxLength={MESSAGE_CHARS_MAX}
          autoFocus
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        {isStatus(save.error, 409) ? (
          <Notice tone="error" title="Somebody has saved another version">
            Nothing of yours is lost. Close this and compare the two.
          </Notice>
        ) : (
          <Failure title="Not saved" error={save.error} />
        )}
        <div className={styles.actions}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save version
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
