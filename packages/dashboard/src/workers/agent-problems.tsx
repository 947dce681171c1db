import { Box } from '@mantine/core';
import { Link } from 'react-router';
import type { Worker } from '../shell/api';
import { paths, workerPath } from '../shell/paths';
import { Notice } from '../ui/notice';

/** Warns of a model and of workers that an agent names and that its runs would not find. */
export function AgentProblems({ worker }: { worker: Worker }) {
  const { id, model, model_problem: problem, missing_workers: missing = [] } = worker;
  const settings = <Link to={`${workerPath(id, 'workerSettings')}#agent`}>Change model and tools</Link>;
  return (
    <>
      {problem && (
        <Box mb="lg">
          <Notice
            tone="error"
            title={model === null ? 'No model is available for this agent' : `The model ${model} is not available`}
            action={[
              settings,
              <Link key="models" to={paths.models}>
                View models
              </Link>,
            ]}
          >
            Runs will fail because {problem}.
          </Notice>
        </Box>
      )}
      {missing.length > 0 && (
        <Box mb="lg">
          <Notice
            tone="error"
            title={
              missing.length === 1
                ? `The worker ${missing[0]} is unavailable as a tool`
                : `These workers are unavailable as tools: ${missing.join(', ')}`
            }
            action={settings}
          >
            Runs will fail until this is fixed. Agents can only call workers that are visible to everyone in the
            workspace.
          </Notice>
        </Box>
      )}
    </>
  );
}
