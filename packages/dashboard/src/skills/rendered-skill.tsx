import { Skeleton } from '@mantine/core';
import { LoadErrorNotice } from '../ui/notice';
import { Markup } from './markup';
import { useRenderedSkill } from './use-rendered-skill';

export interface RenderedSkillProps {
  title: string;
  text: string;
  /** Address of the skill's page. */
  url: string | undefined;
}

/** Renders the text exactly as its public page shows it. */
export function RenderedSkill({ title, text, url }: RenderedSkillProps) {
  const { data, error, refetch } = useRenderedSkill(title, text);
  if (error && !data) return <LoadErrorNotice what="The preview" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={240} />;
  return <Markup html={data.html} baseUrl={url} />;
}
