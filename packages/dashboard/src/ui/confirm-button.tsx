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
  const [asking, setAsking] = useState(false);
  if (!asking) {
    return (
      <Button variant="default" aria-label={label} loading={busy} onClick={() => setAsking(true)}>
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
          setAsking(false);
          onConfirm();
        }}
      >
        {question}
      </Button>
      <Button variant="default" onClick={() => setAsking(false)}>
        Keep
      </Button>
    </>
  );
}
