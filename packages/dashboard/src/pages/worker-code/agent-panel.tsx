import { Box, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { MissingModelNotice } from '../../models/missing-model-notice';
import type { Worker } from '../../shell/api';
import { skillPath, workerPath } from '../../shell/paths';
import { type Detail, DetailList } from '../../ui/detail-list';
import { formatDollars } from '../../ui/format';
import { Panel } from '../../ui/panel';
import { AgentSkillDetails, toAgentSkill } from '../../workers/agent-skill-details';
import { formatToolLabel } from '../../workers/agent-tools';

/** Shows the model, tools and limits of the agent beside its task. */
export function AgentPanel({ worker }: { worker: Worker }) {
  const { id, model, tools, connections, max_turns: turns, budget_usd: budget, skill, skills } = worker;
  const slug = skill?.split('@')[0];
  const details: Detail[] = [
    ['Model', model ?? 'Default'],
    ['Turns', `Up to ${turns}`],
    ['Budget', budget === null ? 'No limit per run' : `${formatDollars(budget)} per run`],
    ['Result', worker.output === null ? 'Text' : 'JSON matching a schema'],
  ];
  return (
    <Panel title="Agent" aside={<Link to={workerPath(id, 'workerSettings')}>Settings</Link>}>
      <Stack gap="md">
        <MissingModelNotice />
        <DetailList details={details} />
        <div>
          <h3>Tools</h3>
          {tools.length > 0 ? (
            <Box component="ul" className="wrap-anywhere" fz="sm" c="dimmed">
              {tools.map(({ tool }) => (
                <li key={tool}>{formatToolLabel(tool, connections)}</li>
              ))}
            </Box>
          ) : (
            <Text className="wrap-anywhere" fz="sm" c="dimmed">
              None. The agent can only answer.
            </Text>
          )}
        </div>
        {skills.length > 0 && (
          <div>
            <h3>Skills</h3>
            <Stack component="ul" gap="sm">
              {skills.map((skill) => (
                <li key={skill.path}>
                  <AgentSkillDetails skill={toAgentSkill(skill)} />
                </li>
              ))}
            </Stack>
          </div>
        )}
        {slug && (
          <Text className="wrap-anywhere" fz="sm" c="dimmed">
            Copied from the skill <Link to={skillPath(slug)}>{slug}</Link>. Editing the text detaches it from the skill.
          </Text>
        )}
      </Stack>
    </Panel>
  );
}
