import { Box, Text } from '@mantine/core';
import { useState } from 'react';
import styles from './output-json.module.css';

const CHILDREN_SHOWN = 100;
/** Branches open by themselves down to here. */
const OPEN_DEPTH = 2;

export function OutputJson({ value }: { value: unknown }) {
  return (
    <Box className={`${styles.tree} code-box`} ff="monospace">
      <JsonNode value={value} depth={0} />
    </Box>
  );
}

/** Folded branches are not rendered, so a huge value costs only the part that is open. */
function JsonNode({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(CHILDREN_SHOWN);
  const key = name !== undefined && (
    <Text span c="bright" fw={600}>
      {name}:{' '}
    </Text>
  );
  if (typeof value !== 'object' || value === null) {
    return (
      <Box className="wrap-anywhere pre-wrap" pl="1.1em">
        {key}
        <span data-kind={value === null ? 'null' : typeof value}>{JSON.stringify(value) ?? 'null'}</span>
      </Box>
    );
  }
  const children = Object.entries(value);
  const count = Array.isArray(value) ? `[${children.length}]` : `{${children.length}}`;
  return (
    <details
      open={open}
      onToggle={(event) => event.target === event.currentTarget && setOpen(event.currentTarget.open)}
    >
      <summary>
        {key}
        <Text span c="dimmed">
          {count}
        </Text>
      </summary>
      {open && (
        <Box ml="0.35em" pl="0.9em" style={{ borderLeft: '1px solid var(--line)' }}>
          {children.slice(0, shown).map(([childName, child]) => (
            <JsonNode key={childName} name={childName} value={child} depth={depth + 1} />
          ))}
          {children.length > shown && (
            <button type="button" className="link-button" onClick={() => setShown(shown * 10)}>
              {children.length - shown} more
            </button>
          )}
        </Box>
      )}
    </details>
  );
}
