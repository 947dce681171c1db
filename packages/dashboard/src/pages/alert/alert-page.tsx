import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { getAlertTitle, listAlertAddresses } from '../../alerts/alert-channels';
import { AlertForm, normalizeAlertFields } from '../../alerts/alert-form';
import { type Alert, formatAlertTypes } from '../../alerts/alert-labels';
import { useAlert, useAlertMutations } from '../../alerts/alert-queries';
import { AlertStatusChip } from '../../alerts/alert-status';
import { AlertSubject } from '../../alerts/alert-subject';
import { SigningSecretNotice } from '../../alerts/signing-secret-notice';
import { hasErrorStatus } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { type Detail, DetailList } from '../../ui/detail-list';
import { LoadingPage } from '../../ui/loading-page';
import { ErrorNotice, LoadErrorNotice, Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { Deliveries } from './deliveries';
import { TestOutcome } from './test-outcome';

export default function AlertPage() {
  const { alertId = '' } = useParams();
  const alert = useAlert(alertId);
  useTitle(alert.data ? getAlertTitle(alert.data) : 'Alert');
  if (hasErrorStatus(alert.error, 404)) return <NotFound what="alert" />;
  if (alert.error && !alert.data) {
    return <LoadErrorNotice what="The alert" error={alert.error} retry={alert.refetch} />;
  }
  if (!alert.data) return <LoadingPage what="the alert" columns="minmax(0, 1fr)" />;
  return <LoadedAlert key={alertId} alert={alert.data} />;
}

function LoadedAlert({ alert }: { alert: Alert }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const canEdit = hasRoleAtLeast(workspace?.role, 'admin');
  const [isEditing, setEditing] = useState(false);
  const { change, remove, test } = useAlertMutations();
  const { id, enabled, disabled_reason } = alert;

  const setEnabled = (isEnabled: boolean) =>
    change.mutate(
      { id, enabled: isEnabled },
      {
        onSuccess: () =>
          toast(isEnabled ? 'Alert turned on' : 'Alert turned off', {
            undo: () => change.mutate({ id, enabled: !isEnabled }),
          }),
      },
    );
  const newSecret = change.data?.secret;
  // A test result is outdated once the alert has changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: anew with each change, and only then.
  useEffect(() => test.reset(), [alert.updated_at]);

  return (
    <>
      <PageHeader
        title={getAlertTitle(alert)}
        about={
          <>
            <AlertStatusChip alert={alert} />
            <AlertSubject alert={alert} />
          </>
        }
        actions={
          canEdit && (
            <>
              <ConfirmButton
                label="Delete alert"
                question="Delete alert and deliveries"
                {...toAction(remove, id, {
                  onSuccess: () => {
                    toast('Alert deleted');
                    navigate(paths.alerts);
                  },
                })}
              >
                Delete
              </ConfirmButton>
              <Button variant="default" loading={change.isPending} onClick={() => setEnabled(!enabled)}>
                {enabled ? 'Turn off' : 'Turn on'}
              </Button>
              <Button loading={test.isPending} onClick={() => test.mutate(id)}>
                Send test
              </Button>
            </>
          )
        }
      />
      <Stack gap="lg">
        {!enabled && disabled_reason && (
          <Notice tone="error" title="Gantry turned this alert off">
            {disabled_reason}
          </Notice>
        )}
        <ErrorNotice title="Changes not saved" error={isEditing ? null : (change.error ?? remove.error)} />
        <ErrorNotice title="Test not sent" error={test.error} />
        {test.data && <TestOutcome outcome={test.data} />}
        {newSecret && <SigningSecretNotice secret={newSecret} />}
        <Panel
          title="Rule"
          aside={
            canEdit &&
            !isEditing && (
              <Button size="xs" variant="default" onClick={() => setEditing(true)}>
                Edit
              </Button>
            )
          }
        >
          {isEditing ? (
            <AlertForm
              given={alert}
              isForAutomation={alert.automation_id !== null}
              submitLabel="Save"
              isBusy={change.isPending}
              error={change.error}
              onSubmit={(fields) =>
                change.mutate(
                  { id, ...normalizeAlertFields(fields) },
                  {
                    onSuccess: () => {
                      setEditing(false);
                      toast('Alert saved');
                    },
                  },
                )
              }
              onCancel={() => {
                change.reset();
                setEditing(false);
              }}
            />
          ) : (
            <AlertRuleDetails
              alert={alert}
              canRotate={canEdit}
              isBusy={change.isPending}
              onRotate={() => change.mutate({ id, secret_rotate: true })}
            />
          )}
        </Panel>
        {canEdit ? (
          <Deliveries alert={alert} />
        ) : (
          <p className="caption">Only admins and owners can see deliveries and the full address.</p>
        )}
      </Stack>
    </>
  );
}

interface AlertRuleDetailsProps {
  alert: Alert;
  canRotate: boolean;
  isBusy: boolean;
  onRotate: () => void;
}

function AlertRuleDetails({ alert, canRotate, isBusy, onRotate }: AlertRuleDetailsProps) {
  const { on, created_at } = alert;
  const addresses = listAlertAddresses(alert);
  return (
    <>
      <DetailList
        details={[
          ['Source', <AlertSubject key="about" alert={alert} />],
          ['Notifies when', formatAlertTypes(on)],
          ...addresses.map(({ channel, address }): Detail => [channel.label, address]),
          ['Created', <Timestamp key="made" at={Date.parse(created_at)} />],
        ]}
      />
      {addresses.some(({ channel }) => channel.isSigned) && canRotate && (
        <Group gap="sm" justify="space-between" mt="md">
          <Text className="caption" flex="1 1 16rem">
            Requests are signed. After you rotate the secret, the previous secret stays valid for one more day so you
            can update the receiver.
          </Text>
          <ConfirmButton label="Rotate signing secret" question="Rotate now" busy={isBusy} onConfirm={onRotate}>
            Rotate signing secret
          </ConfirmButton>
        </Group>
      )}
    </>
  );
}
