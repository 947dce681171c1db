import { Box, Group } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './dialog.module.css';
import { CrossIcon } from './icons';

interface DialogProps {
  /** Names it; shown unless `bare`. */
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Leaves the head out: the content has one of its own. */
  bare?: boolean;
  /** A sheet at the left edge instead of a box in the middle. */
  side?: boolean;
  /** Wide enough for two texts side by side. */
  wide?: boolean;
}

/**
 * Shows a modal dialog while it is rendered. It is the browser's own: it keeps the focus inside, closes with Escape,
 * makes the rest inert and gives the focus back.
 */
export function Dialog({ title, onClose, children, bare = false, side = false, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it for the keyboard.
    <dialog
      ref={dialog}
      aria-label={title}
      className={side ? styles.side : `${styles.dialog} ${wide ? styles.wide : ''}`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <Box mih="100%">
        {!bare && (
          <Group
            gap="sm"
            justify="space-between"
            wrap="nowrap"
            p="12px 12px 12px 24px"
            style={{ borderBottom: '1px solid var(--line)' }}
          >
            <h2>{title}</h2>
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <CrossIcon />
            </button>
          </Group>
        )}
        {children}
      </Box>
    </dialog>
  );
}
