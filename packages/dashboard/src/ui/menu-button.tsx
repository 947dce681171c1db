import { Box } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import styles from './menu-button.module.css';

interface MenuButtonProps {
  label: string;
  /** Inside the button. */
  trigger: ReactNode;
  className?: string;
  align?: 'start' | 'end';
  children: (close: () => void) => ReactNode;
}

/** Opens a small panel below itself; Escape, a click outside or leaving it with Tab closes it. */
export function MenuButton({ label, trigger, className, align = 'start', children }: MenuButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    const handleOutsideInteraction = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', handleOutsideInteraction);
    document.addEventListener('focusin', handleOutsideInteraction);
    return () => {
      document.removeEventListener('pointerdown', handleOutsideInteraction);
      document.removeEventListener('focusin', handleOutsideInteraction);
    };
  }, [isOpen]);

  function close() {
    setOpen(false);
    button.current?.focus();
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Escape' || !isOpen) return;
    event.stopPropagation();
    close();
  }

  return (
    <Box ref={root} pos="relative" miw={0} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={className ?? styles.button}
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {trigger}
      </button>
      {isOpen && (
        <div id={id} className={`${styles.panel} surface`} data-align={align}>
          {children(close)}
        </div>
      )}
    </Box>
  );
}

/** Class of a button or link in the panel that takes its whole width. */
export const menuItem = `menu-row ${styles.item}`;
