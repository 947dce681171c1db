import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type FailureLocation, findFailureLocation } from '../code/code-problem';
import { encodeFileInputs } from '../inputs/encode-file-inputs';
import { TestForm } from '../inputs/test-form';
import { OutputList } from '../outputs/output-list';
import { parseLogLines } from '../runs/log/log-line';
import { createLogStore } from '../runs/log/log-store';
import { RunLog } from '../runs/log/run-log';
import { RunErrorBox } from '../runs/run-error-box';
import { getRunStatusDisplay, RunStatusChip } from '../runs/run-status';
import { TestResultSection } from '../runs/test-result-section';
import { api, type TestRun } from '../shell/api';
import { LoadErrorNotice } from '../ui/notice';
import type { Manifest } from './manifest';
import type { Package } from './use-package';

interface PackageTestPanelProps {
  manifest: Manifest;
  packageDraft: Package;
  automationId: string | null;
  /** Receives where the code failed; null when a new test begins. */
  onFailure: (failure: FailureLocation | null) => void;
}

export function PackageTestPanel({ manifest, packageDraft: pack, automationId, onFailure }: PackageTestPanelProps) {
  const [testRun, setTestRun] = useState<TestRun | null>(null);
  async function startTest(values: Record<string, unknown>) {
    onFailure(null);
    const [{ artifactId }, inputs] = await Promise.all([pack.artifact(), encodeFileInputs(values, 'member')]);
    const body = { artifactId, inputs, ...(automationId !== null && { automationId }) };
    setTestRun(await api.automation.POST('/api/test', { body }));
  }
  return (
    <Stack gap="md">
      <TestForm items={manifest.inputs} initialValues={null} onTest={startTest}>
        Runs the code from the editor in a sandbox without network access, for up to one minute.
      </TestForm>
      {testRun && (
        <TestResult key={testRun.testRunId} testRun={testRun} outputs={manifest.outputs} onFailure={onFailure} />
      )}
    </Stack>
  );
}

const POLL_MS = 500;

interface TestResultProps extends Pick<PackageTestPanelProps, 'onFailure'> {
  testRun: TestRun;
  outputs: Manifest['outputs'];
}

function TestResult({ testRun, outputs, onFailure }: TestResultProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ['test-run', testRun.testRunId],
    queryFn: () =>
      api.automation.GET('/api/test-runs/{testRunId}', { params: { path: { testRunId: testRun.testRunId } } }),
    initialData: testRun,
    refetchInterval: ({ state }) => (state.data && isTestFinished(state.data) ? false : POLL_MS),
  });
  const failed = data.error;
  // biome-ignore lint/correctness/useExhaustiveDependencies: reported once, when it has failed.
  useEffect(() => {
    if (failed) onFailure(findFailureLocation(failed));
  }, [failed === undefined]);
  const logs = data.logs ?? data.result?.logs ?? '';
  const store = useMemo(() => createLogStore(parseLogLines(logs)), [logs]);
  if (error) return <LoadErrorNotice what="The test" error={error} retry={refetch} />;
  const isFinished = isTestFinished(data);
  return (
    <TestResultSection
      chip={<RunStatusChip status={data.status} error={failed} />}
      durationMs={data.durationMs}
      announcement={
        isFinished &&
        `Test finished: ${getRunStatusDisplay({ status: data.status, error: failed }).word}. ${failed?.message ?? ''}`
      }
    >
      {failed && <RunErrorBox error={failed} />}
      {data.status === 'success' && <OutputList items={outputs} outputs={data.result?.outputs ?? {}} artifacts={[]} />}
      {isFinished ? (
        <RunLog store={store} name={data.testRunId} startedAt={data.startedAt ?? null} empty="No output." />
      ) : (
        <Skeleton height={120} />
      )}
    </TestResultSection>
  );
}

const isTestFinished = ({ status }: TestRun): boolean => status !== 'pending';
