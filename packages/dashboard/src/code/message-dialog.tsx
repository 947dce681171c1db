import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { bindText } from '../ui/bind';
import { FormDialog } from '../ui/form-dialog';

const MESSAGE_CHARS_MAX = 500;

interface MessageDialogProps {
  title: string;
  /** Label of the message. */
  label: string;
  submit: string;
  /** Title of the error message. */
  failure: string;
  /** Explains an error better than its message does; undefined: it does not. */
  explain?: (error: Error) => ReactNode;
  onSubmit: (message: string | undefined) => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}

/** Asks for an optional message in the history, and closes once the change is made. */
export function MessageDialog({
  title,
  label,
  submit,
  failure,
  explain,
  onSubmit,
  onClose,
  children,
}: MessageDialogProps) {
  const [message, setMessage] = useState('');
  const change = useMutation({ mutationFn: () => onSubmit(message.trim() || undefined), onSuccess: onClose });
  const explanation = change.error && explain?.(change.error);
  return (
    <FormDialog
      title={title}
      submit={submit}
      mutation={{ isPending: change.isPending, error: explanation ? null : change.error }}
      failure={failure}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      {children}
      <TextInput
        label={label}
        description="Optional. Shown in the version history."
        maxLength={MESSAGE_CHARS_MAX}
        autoFocus
        {...bindText(message, setMessage)}
      />
      {explanation}
    </FormDialog>
  );
}
