import { Button, Stack } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { useStoredFlag } from '../shell/use-stored-flag';
import layout from './workspace.module.css';

interface EditorColumnsProps {
  files: ReactNode;
  editor: ReactNode;
  /** Tests the code in the editor, beside it; null where there is nothing to test. */
  panel: ReactNode;
}

/** Lays out files, the editor, and a panel that can be hidden for more width. A hidden panel keeps its state. */
export function EditorColumns({ files, editor, panel }: EditorColumnsProps) {
  const panelId = useId();
  const { isSet: isHidden, toggle } = useStoredFlag('gantry-hidden-editor-panel');
  return (
    <div className={layout.columns} data-panel={panel ? (isHidden ? 'hidden' : 'shown') : undefined}>
      <div>{files}</div>
      <Stack gap="sm" miw={0}>
        {editor}
      </Stack>
      {panel && (
        <Stack className={layout.side} gap="sm" miw={0}>
          <Button
            size="compact-sm"
            variant="default"
            style={{ alignSelf: 'flex-end' }}
            aria-expanded={!isHidden}
            aria-controls={panelId}
            onClick={toggle}
          >
            {isHidden ? 'Show panel' : 'Hide panel'}
          </Button>
          <div id={panelId} className={layout.panel} hidden={isHidden}>
            {panel}
          </div>
        </Stack>
      )}
    </div>
  );
}
