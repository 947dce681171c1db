import { Box, Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface NoticeProps {
  tone: 'error' | 'info';
  title?: string;
  children: ReactNode;
  action?: ReactNode;
}

/** Says what happened and what to do next. Errors are announced at once. */
export function Notice({ tone, title, children, action }: NoticeProps) {
  return (
    <Group
      className="wrap-anywhere"
      gap="sm"
      justify="space-between"
      p="12px 16px"
      fz="sm"
      bdrs={6}
      bg="var(--tone-wash)"
      style={{ borderLeft: '3px solid var(--tone)' }}
      data-tone={tone}
      role={tone === 'error' ? 'alert' : undefined}
    >
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
    </Group>
  );
}

export type Explanation = Omit<NoticeProps, 'tone'>;

interface ErrorNoticeProps {
  error: Error | null;
  title?: string;
  /** By the code of the error; others are shown with their own message. */
  explanations?: Record<string, Explanation>;
}

/** Shows why an action failed; nothing without an error. */
export function ErrorNotice({ error, title, explanations = {} }: ErrorNoticeProps) {
  if (!error) return null;
  const explanation = 'code' in error ? explanations[String(error.code)] : undefined;
  return <Notice tone="error" {...(explanation ?? { title, children: error.message })} />;
}

/** Shows that a part of a page could not be loaded, with a retry button. */
export function LoadErrorNotice({ what, error, retry }: { what: string; error: unknown; retry: () => void }) {
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
