import { Box, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { formatFileSize } from '../ui/format';
import { DownloadIcon } from '../ui/icons';
import type { LinkedArtifact } from './linked-artifact';

export function OutputFile({ artifact }: { artifact: LinkedArtifact }) {
  return (
    <Box
      component="a"
      className="boxed-link"
      w="fit-content"
      maw="100%"
      p="8px 12px"
      bg="var(--sunken)"
      href={artifact.url}
      download={artifact.name}
    >
      <DownloadIcon />
      <Text span className="wrap-anywhere" fw={600} td="underline">
        {artifact.name}
      </Text>
      <Text span flex="none" fz="xs" c="dimmed">
        {formatFileSize(artifact.size)}
      </Text>
    </Box>
  );
}

interface OutputImageProps {
  label: string;
  url: string;
  artifact: LinkedArtifact | null;
}

export function OutputImage({ label, url, artifact }: OutputImageProps) {
  const [broken, setBroken] = useState(false);
  return (
    <Stack gap="xs" align="flex-start">
      {broken ? (
        <Text flex="none" fz="xs" c="dimmed">
          This image can’t be shown. {artifact && 'Download it to view it.'}
        </Text>
      ) : (
        <Box
          component="img"
          mih="2rem"
          bd="1px solid var(--line)"
          bdrs={6}
          bg="#fff"
          src={url}
          alt={label}
          onError={() => setBroken(true)}
        />
      )}
      {artifact && <OutputFile artifact={artifact} />}
    </Stack>
  );
}
