import { Text } from '@mantine/core';
import { lazy, Suspense } from 'react';

const AgentText = lazy(() => import('./agent-text'));

/** Shows an agent's text as Markdown, and as plain text until the renderer is loaded. */
export const AgentMessage = ({ text }: { text: string }) => (
  <Suspense
    fallback={
      <Text className="pre-wrap wrap-anywhere" maw="72ch" lh={1.6}>
        {text}
      </Text>
    }
  >
    <AgentText text={text} />
  </Suspense>
);
