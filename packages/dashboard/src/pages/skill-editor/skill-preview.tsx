import { Button, Skeleton, Stack } from '@mantine/core';
import { Markup } from '../../skills/markup';
import type { RenderedSkillProps } from '../../skills/rendered-skill';
import { useRenderedSkill } from '../../skills/use-rendered-skill';
import { EmptyState } from '../../ui/empty-state';
import { ErrorNotice, Notice } from '../../ui/notice';

interface SkillPreviewProps extends RenderedSkillProps {
  /** Inserts an outline into the editor. */
  onOutline: () => void;
}

export function SkillPreview({ title, text, url, onOutline }: SkillPreviewProps) {
  const { data, error } = useRenderedSkill(title, text);
  const isBlank = text.trim() === '';
  return (
    <Stack
      className="surface"
      gap="md"
      p="16px 24px"
      bdrs={6}
      style={{ overflowY: 'auto' }}
      tabIndex={isBlank ? undefined : 0}
    >
      {isBlank ? (
        <EmptyState title="The preview appears here as you type">
          <p>
            <Button variant="default" onClick={onOutline}>
              Start from an outline
            </Button>
          </p>
        </EmptyState>
      ) : (
        <>
          <ErrorNotice title="Preview out of date" error={error} />
          {data?.warnings.map((warning) => (
            <Notice key={warning} tone="info" title="Front matter">
              {warning}
            </Notice>
          ))}
          {data ? <Markup html={data.html} baseUrl={url} /> : <Skeleton height={160} />}
        </>
      )}
    </Stack>
  );
}
