import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { CheckIcon, LinkIcon } from '../ui/icons';

export function CopyLinkButton({ url }: { url: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <Button
      variant="default"
      leftSection={clipboard.copied ? <CheckIcon /> : <LinkIcon />}
      onClick={() => clipboard.copy(url)}
    >
      <span aria-live="polite">{clipboard.copied ? 'Link copied' : 'Copy link'}</span>
    </Button>
  );
}
