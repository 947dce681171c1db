import { Button, Group, Skeleton, Text } from '@mantine/core';
import { useState } from 'react';
import { api, type Skill } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { skillVersionPath } from '../../shell/paths';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { skillKeys } from '../../skills/skill-keys';
import { LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';

const VERSIONS_SHOWN = 10;

/** Lists the versions, of which the last hundred are kept. */
export function SkillVersions({ skill }: { skill: Skill }) {
  const [showsAll, setShowsAll] = useState(false);
  const { data, error, refetch } = useWorkspaceQuery(
    (workspaceId) => [...skillKeys.part(workspaceId, skill.slug, 'versions'), 'list', skill.version],
    () => api.skills.GET('/api/v1/skills/{slug}/versions', { params: { path: { slug: skill.slug } } }),
  );
  return (
    <Panel title="Versions">
      {error && !data ? (
        <LoadErrorNotice what="The versions" error={error} retry={refetch} />
      ) : !data ? (
        <Skeleton height={96} />
      ) : (
        <ol className="divided rows" reversed>
          {(showsAll ? data : data.slice(0, VERSIONS_SHOWN)).map(({ version, message, created_at }) => (
            <Group key={version} component="li" gap="sm" justify="space-between" wrap="nowrap">
              <div>
                <Text span fw={640}>
                  Version {version}
                </Text>
                <Text span ml="xs" fz="xs" c="dimmed">
                  <Timestamp at={Date.parse(created_at)} />
                </Text>
                {message && (
                  <Text fz="xs" c="dimmed">
                    {message}
                  </Text>
                )}
              </div>
              {version === skill.version ? (
                <Text span fz="xs" fw={600} c="var(--accent)">
                  Current
                </Text>
              ) : (
                <LinkButton
                  to={skillVersionPath(skill.slug, version)}
                  size="compact-sm"
                  variant="default"
                  aria-label={`Compare version ${version}`}
                >
                  Compare
                </LinkButton>
              )}
            </Group>
          ))}
          {!showsAll && data.length > VERSIONS_SHOWN && (
            <li>
              <Button size="compact-sm" variant="default" onClick={() => setShowsAll(true)}>
                Show {data.length - VERSIONS_SHOWN} older versions
              </Button>
            </li>
          )}
        </ol>
      )}
    </Panel>
  );
}
