import { Button, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Skill } from '../../shell/api';
import { paths } from '../../shell/paths';
import { CopyableCode } from '../../ui/copyable-code';
import { downloadFile } from '../../ui/download-file';
import { DownloadIcon } from '../../ui/icons';
import { Panel } from '../../ui/panel';

/** Shows the commands that install the skill for an agent, as its public page does. */
export function InstallPanel({ skill: { slug, url, visibility, body_md } }: { skill: Skill }) {
  const header = visibility === 'private' ? '-H "Authorization: Bearer $GANTRY_TOKEN" ' : '';
  const { origin } = new URL(url);
  const folder = `.agents/skills/${slug}`;
  const file = `${origin}/.well-known/agent-skills/${slug}/SKILL.md`;
  return (
    <Panel
      title="Use with agents"
      aside={
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() => downloadFile(`${slug}.md`, new Blob([body_md], { type: 'text/markdown' }))}
        >
          Download
        </Button>
      }
    >
      <Stack gap="md">
        <CopyableCode
          label="Install"
          code={`mkdir -p ${folder} && \\\ncurl -fsSL ${header}${file} \\\n  -o ${folder}/SKILL.md`}
        />
        <CopyableCode label="Read without installing" code={`curl -fsSL ${header}${url}.md`} />
        <Text fz="xs" c="dimmed">
          {visibility === 'private' ? (
            <>
              This skill is private, so the commands need a key or token with access to it.{' '}
              <Link to={paths.tokens}>Create a key or token</Link>
            </>
          ) : (
            'Many agents look for skills in .agents/skills. If yours uses another folder, change the path.'
          )}
        </Text>
      </Stack>
    </Panel>
  );
}
