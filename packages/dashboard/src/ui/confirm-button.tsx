import { Button } from '@mantine/core';
import { useState } from 'react';

interface ConfirmButtonProps {
  /** Names also what it acts on, for screen readers. */
  label: string;
  children: string;
  question: string;
  busy: boolean;
  onConfirm: () => void;
}

/** Asks for confirmation in place, where the pointer or the focus already is. */
export function ConfirmButton({ label, children, question, busy, onConfirm }: ConfirmButtonProps) {
  const [isConfirming, setConfirming] = useState(false);
  if (!isConfirming) {
    return (
      <Button variant="default" aria-label={label} loading={busy} onClick={() => setConfirming(true)}>
        {children}
      </Button>
    );
  }
  return (
    <>
      <Button
        autoFocus
        color="red"
        loading={busy}
        onClick={() => {
          setConfirming(false);
          onConfirm();
        }}
      >
        {question}
      </Button>
      <Button variant="default" onClick={() => setConfirming(false)}>
        Go back
      </Button>
    </>
  );
}

interface RowMutation<Variables> {
  isPending: boolean;
  variables: Variables | undefined;
  mutate: (variables: Variables) => void;
}

interface Mutation<Args extends unknown[]> {
  isPending: boolean;
  mutate: (...args: Args) => void;
}

/** Returns the properties of a button that makes a change. */
export const toAction = <Args extends unknown[]>(mutation: Mutation<Args>, ...args: Args) => ({
  busy: mutation.isPending,
  onConfirm: () => mutation.mutate(...args),
});

/** Returns the properties of a button that makes a change to one row of a list. */
export const buildRowActionProps = <Variables,>(mutation: RowMutation<Variables>, variables: Variables) => ({
  busy: mutation.isPending && mutation.variables === variables,
  onConfirm: () => mutation.mutate(variables),
});

interface DeleteButtonProps {
  name: string;
  mutation: { isPending: boolean; mutate: () => void };
}

/** Deletes what a page or a dialog shows, after a confirmation. */
export const DeleteButton = ({ name, mutation }: DeleteButtonProps) => (
  <ConfirmButton label={`Delete ${name}`} question="Delete now" {...toAction(mutation)}>
    Delete
  </ConfirmButton>
);
