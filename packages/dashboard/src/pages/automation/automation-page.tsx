import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Navigate, useLocation, useNavigate, useParams, useSearchParams } from 'react-router';
import { renderResourceError } from '../../accounts/resource-error';
import { automationKeys } from '../../automations/automation-keys';
import { encodeFileInputs } from '../../inputs/encode-file-inputs';
import { buildInputFormKey, InputForm } from '../../inputs/input-form';
import { PastRuns } from '../../runs/past-runs';
import { createRunApi } from '../../runs/run-api';
import { runKeys } from '../../runs/run-keys';
import { RunView } from '../../runs/run-view';
import { hasErrorStatus, type Page } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { getRunIdParam, runPath, signInPath } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { LoadingPage } from '../../ui/loading-page';
import { Panel } from '../../ui/panel';
import { AutomationHeader } from './automation-header';
import { CannotRunNotice } from './cannot-run-notice';
import { NoRunSelected } from './no-run-selected';
import { loadAutomationPage, useAutomationPage } from './use-automation-page';
import { VersionList } from './version-list';

const COLUMNS = 'minmax(18rem, 22.5rem) minmax(0, 1fr)';

/** Serves the shareable `url` of an automation. */
export default function AutomationPage() {
  const { automationId = '' } = useParams();
  const session = useSession();
  const location = useLocation();
  const query = useAutomationPage(automationId);
  const { data: page, error } = query;
  useTitle(page?.name);
  if (page) return <LoadedAutomation key={page.id} page={page} />;
  if (hasErrorStatus(error, 401)) return <Navigate to={signInPath(location)} replace />;
  if (hasErrorStatus(error, 404, 403) && session.status !== 'signed-in') return <NotFound what="automation" />;
  const resourceError = renderResourceError({
    query,
    resourceKind: 'automation',
    queryKey: automationKeys.page(automationId),
    read: (headers) => loadAutomationPage(automationId, headers),
  });
  return resourceError ?? <LoadingPage what="the automation" columns={COLUMNS} />;
}

function LoadedAutomation({ page }: { page: Page }) {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const [reused, setReused] = useState<{ inputs: Record<string, unknown>; count: number }>({ inputs: {}, count: 0 });
  const queryClient = useQueryClient();
  const runs = useMemo(() => createRunApi(page.id, page.access), [page.id, page.access]);
  const runId = getRunIdParam(search);
  const member = page.access === 'member';
  const result = useScrollToRun(runId);

  async function start(inputs: Record<string, unknown>) {
    const started = await runs.start(await encodeFileInputs(inputs, page.access));
    navigate(runPath(page.id, started), { replace: true, preventScrollReset: true });
    void queryClient.invalidateQueries({ queryKey: runKeys.list(page.id) });
  }

  return (
    <>
      <AutomationHeader page={page} />
      <CannotRunNotice page={page} />
      <Columns widths={COLUMNS}>
        <Panel title="Inputs">
          <InputForm
            key={buildInputFormKey(page.inputs, reused.count)}
            items={page.inputs}
            initialValues={reused.count ? reused.inputs : null}
            canRun={page.canRun}
            onRun={start}
          />
        </Panel>
        <Panel title="Result" ref={result}>
          {runId ? (
            <RunView
              key={runId}
              page={page}
              runs={runs}
              runId={runId}
              onReuse={(inputs) => setReused(({ count }) => ({ inputs, count: count + 1 }))}
            />
          ) : (
            <NoRunSelected page={page} />
          )}
        </Panel>
      </Columns>
      {member && (
        <Columns mt="lg">
          <Panel title="Past runs">
            <PastRuns automationId={page.id} selected={runId} />
          </Panel>
          <Panel title="Versions">
            <VersionList page={page} />
          </Panel>
        </Columns>
      )}
    </>
  );
}

/** Scrolls to a run that is selected or started: on a phone the form and the list fill the screen. */
function useScrollToRun(runId: string | null) {
  const box = useRef<HTMLElement>(null);
  const lastRunId = useRef(runId);
  useEffect(() => {
    if (runId === lastRunId.current) return;
    lastRunId.current = runId;
    const top = box.current?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > window.innerHeight / 2) box.current?.scrollIntoView();
  }, [runId]);
  return box;
}
