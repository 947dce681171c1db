import { unwrap } from '@gantry/api-client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import { Elsewhere } from '../../accounts/elsewhere';
import { automationKeys } from '../../automations/automation-keys';
import { api, isStatus } from '../../shell/api';
import { automationPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { LoadingPage } from '../../ui/loading-page';
import { FailedToLoad } from '../../ui/notice';
import { Archive } from './archive';
import { AutomationHead } from './automation-head';
import styles from './automation-settings-page.module.css';
import { NameForm } from './name-form';
import { PublicLink } from './public-link';
import { SchedulePanel } from './schedule-panel';

const read = (automationId: string, headers = {}) =>
  unwrap(api.GET('/api/automations/{automationId}', { params: { path: { automationId } }, headers }));

/** Everything about an automation but its code. */
export default function AutomationSettingsPage() {
  const { automationId = '' } = useParams();
  const workspace = useWorkspace();
  const queryKey = automationKeys.settings(workspace?.id, automationId);
  const {
    data: automation,
    error,
    refetch,
  } = useQuery({ queryKey, queryFn: () => read(automationId), enabled: workspace !== undefined });
  useTitle('Settings', automation && [{ to: automationPath(automationId), label: automation.name }]);
  if (isStatus(error, 403, 404)) {
    return <Elsewhere what="automation" queryKey={queryKey} read={(headers) => read(automationId, headers)} />;
  }
  if (error && !automation) return <FailedToLoad what="The automation" error={error} retry={refetch} />;
  if (!automation) return <LoadingPage what="the automation" columns={styles.panels} />;
  const mayChange = workspace?.role !== 'viewer';
  return (
    <>
      <AutomationHead page={{ ...automation, access: 'member' }} />
      <div className={styles.panels}>
        <NameForm automation={automation} mayChange={mayChange} />
        <SchedulePanel automation={automation} mayChange={mayChange} />
        <PublicLink automation={automation} mayChange={mayChange} />
        {mayChange && <Archive automation={automation} />}
      </div>
    </>
  );
}
