import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../ui/dialog';
import { Failure } from '../ui/notice';
import styles from './version-list.module.css';

interface RollBackDialogProps {
  version: number;
  current: number | undefined;
  onRollBack: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export function RollBackDialog({ version, current, onRollBack, onClose }: RollBackDialogProps) {
  const [message, setMessage] = useState('');
  const move = useMutation({ mutationFn: () => onRollBack(message.trim() || undefined), onSuccess: onClose });
  function submit(event: FormEvent) {
    event.preventDefault();
    move.mutate();
  }
  return (
    <Dialog title={`Roll back to version ${version}?`} onClose={onClose}>
      <form className={styles.dialog} onSubmit={submit}>
        <p>
          A new version is made that is equal to version {version}, and new runs use it. Nothing is lost: you can come
          back to {current === undefined ? 'the current version' : `version ${current}`} in the same way.
        </p>
        <TextInput
          label="Reason"
          description="The history shows it. It may stay empty."
          maxLength={500}
          autoFocus
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <Failure title="Nothing was changed" error={move.error} />
        <div className={styles.answer}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={move.isPending}>
            Roll back
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
