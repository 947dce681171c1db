import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import styles from './drop-zone.module.css';

interface DropZoneProps {
  disabled: boolean;
  onDrop: (dropped: DataTransfer) => void;
  children: ReactNode;
}

/** Accepts files dropped anywhere on it; a button elsewhere does the same without a mouse. */
export function DropZone({ disabled, onDrop, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  // Entering a child leaves its parent, so both are counted.
  const depth = useRef(0);
  const hasFiles = ({ dataTransfer }: DragEvent) => !disabled && dataTransfer.types.includes('Files');
  function trackDepth(event: DragEvent, delta: 1 | -1) {
    if (!hasFiles(event)) return;
    depth.current += delta;
    setOver(depth.current > 0);
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: there is a button that does the same.
    <div
      className={styles.zone}
      data-over={isOver || undefined}
      onDragEnter={(event) => trackDepth(event, 1)}
      onDragLeave={(event) => trackDepth(event, -1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        onDrop(event.dataTransfer);
      }}
    >
      {children}
      {isOver && <p className={styles.drop}>Drop to upload</p>}
    </div>
  );
}
