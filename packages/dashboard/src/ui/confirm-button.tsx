import { Button } from '@mantine/core';
import { useState } from 'react';

interface ConfirmButtonProps {
  /** Also names the thing that it acts on, for screen readers. */
  label: string;
  children: string;
  question: string;
  busy: boolean;
  onConfirm: () => void;
}

/** Asks once more in its own place, where the finger or the focus already is. */
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
