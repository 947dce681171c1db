import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { bindText } from '../ui/bind';

interface ApproverNameFieldProps {
  value: string;
  onChange(name: string): void;
}

/** Asks approvers without an account for the name that is recorded with their decision. */
export function ApproverNameField({ value, onChange }: ApproverNameFieldProps): ReactNode {
  return (
    <TextInput
      label="Your name"
      description="Shown with the decision."
      autoComplete="name"
      maxLength={100}
      {...bindText(value, onChange)}
    />
  );
}
