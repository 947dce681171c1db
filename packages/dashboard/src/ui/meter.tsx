import { Box, type BoxProps } from '@mantine/core';

const COLORS = { accent: 'var(--accent)', timeout: 'var(--load)', error: 'var(--error)' };

interface MeterProps extends BoxProps {
  /** 0 to 1; more is shown as full. */
  share: number;
  tone: keyof typeof COLORS;
}

/** Draws a decorative bar; the text beside it states the same value. */
export function Meter({ share, tone, ...box }: MeterProps) {
  return (
    <Box
      component="span"
      display="block"
      h={6}
      bdrs={3}
      bg="var(--idle-wash)"
      style={{ overflow: 'hidden' }}
      aria-hidden="true"
      {...box}
    >
      <Box component="span" display="block" w={`${Math.min(1, share) * 100}%`} h="100%" bdrs={3} bg={COLORS[tone]} />
    </Box>
  );
}
