import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, Suspense, useState } from 'react';

interface DialogButtonProps extends Pick<ButtonProps, 'color' | 'disabled' | 'leftSection'> {
  label: string;
  /** Renders the open dialog, which may be loaded on demand. */
  children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({ label, children, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Suspense>{children(() => setOpen(false))}</Suspense>}
    </>
  );
}
