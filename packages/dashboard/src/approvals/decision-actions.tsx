import { Box, Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Notice } from '../ui/notice';

interface DecisionActionsProps {
  /** Why the decision was refused. */
  problem: string | undefined;
  /** Minimum width of a button, a CSS length. */
  buttonWidth: string;
  /** The name under which the decision is recorded. */
  signature: ReactNode;
  /** The buttons. */
  children: ReactNode;
}

/** Renders the button of a decision that ends the run or its step. */
export const RefusalButton = (props: ButtonProps & { onClick: () => void }) => (
  <Button variant="default" c="var(--error)" bd="1px solid currentColor" {...props} />
);

/** Renders the problem, buttons and signature below a decision form. */
export function DecisionActions({ problem, buttonWidth, signature, children }: DecisionActionsProps) {
  return (
    <>
      {problem !== undefined && (
        <Notice tone="error" title="Decision not saved">
          {problem}
        </Notice>
      )}
      <Box className="auto-fit" mt="xs" __vars={{ '--column': buttonWidth }} style={{ gap: 'var(--space-3)' }}>
        {children}
      </Box>
      <p className="caption">{signature}</p>
    </>
  );
}
