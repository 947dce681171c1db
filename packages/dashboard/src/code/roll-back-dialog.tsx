import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../ui/form-dialog';

interface RollBackDialogProps {
  version: number;
  current: number | undefined;
  onRollBack: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export function RollBackDialog({ version, current, onRollBack, onClose }: RollBackDialogProps) {
  const [message, setMessage] = useState('');
  const move = useMutation({ mutationFn: () => onRollBack(message.trim() || undefined), onSuccess: onClose });
  return (
    <FormDialog
      title={`Roll back to version ${version}?`}
      submit="Roll back"
      change={move}
      failure="The version was not rolled back"
      onSubmit={() => move.mutate()}
      onClose={onClose}
    >
      <p>
        A new version is made that is equal to version {version}, and new runs use it. Nothing is lost: you can come
        back to {current === undefined ? 'the current version' : `version ${current}`} in the same way.
      </p>
      <TextInput
        label="Reason"
        description="Optional. Shown in the history."
        maxLength={500}
        autoFocus
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
