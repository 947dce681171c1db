import { Text } from '@mantine/core';
import { lazy, Suspense } from 'react';

const AgentText = lazy(() => import('./agent-text'));

/** Words of an agent as Markdown, and as they are until that can be read. */
export const AgentWords = ({ text }: { text: string }) => (
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
