import { Box, Stack } from '@mantine/core';
import { Timestamp } from '../ui/timestamp';

interface UserMessageProps {
  author: string;
  /** Whether the author is also shown visually. */
  showsAuthor?: boolean;
  text: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Shows a message that a person wrote to an agent. */
export const UserMessage = ({ author, showsAuthor: isNamed = false, text, at }: UserMessageProps) => (
  <Stack component="article" gap={4} align="flex-end" aria-label={author}>
    <Box
      component="p"
      className="pre-wrap wrap-anywhere"
      maw="min(42rem, 88%)"
      p="8px 16px"
      bdrs="12px 12px 3px"
      bg="var(--accent-wash)"
    >
      {text}
    </Box>
    <Box component="p" fz="xs" c="dimmed" pe={4}>
      {isNamed && `${author} · `}
      <Timestamp at={at} />
    </Box>
  </Stack>
);
