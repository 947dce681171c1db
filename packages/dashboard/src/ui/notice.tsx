import { Box, Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './notice.module.css';

interface NoticeProps {
  tone: 'error' | 'info';
  title?: string;
  children: ReactNode;
  action?: ReactNode;
}

/** Says what happened and what to do next. Errors are announced at once. */
export function Notice({ tone, title, children, action }: NoticeProps) {
  return (
    <div className={styles.notice} data-tone={tone} role={tone === 'error' ? 'alert' : undefined}>
      <div>
        {title && (
          <Text fw={640} c="var(--tone)">
            {title}
          </Text>
        )}
        <Box className="pre-wrap" c="bright">
          {children}
        </Box>
      </div>
      {action}
    </div>
  );
}

/** Shows why an action failed; nothing without an error. */
export function Failure({ error, title }: { error: Error | null; title?: string }) {
  return (
    error && (
      <Notice tone="error" title={title}>
        {error.message}
      </Notice>
    )
  );
}

/** Shows that a part of a page could not be loaded, with a retry button. */
export function FailedToLoad({ what, error, retry }: { what: string; error: unknown; retry: () => void }) {
  return (
    <Notice
      tone="error"
      title={`${what} could not be loaded`}
      action={
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      }
    >
      {error instanceof Error ? error.message : String(error)}
    </Notice>
  );
}
