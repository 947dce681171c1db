import { Box, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ALERT_CHANNELS } from '../../alerts/alert-channels';
import { ALERT_TYPE_LABELS, type Alert, type Delivery } from '../../alerts/alert-labels';
import { DeliveryStatusChip } from '../../alerts/alert-status';
import { api } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { usePagedQuery } from '../../shell/use-paged-query';
import { bindChoice } from '../../ui/bind';
import { formatNumber } from '../../ui/format';
import { DownIcon } from '../../ui/icons';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';
import { Timestamp } from '../../ui/timestamp';
import styles from './alert-page.module.css';
import { DeliveryDetail } from './delivery-detail';

const STATUS_OPTIONS = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'dead', label: 'Failed' },
];

type Status = Delivery['status'];

/** Lists all deliveries of an alert, newest first. */
export function Deliveries({ alert }: { alert: Alert }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const [status, setStatus] = useState<Status | ''>('');
  const key = ['alerts', workspaceId, alert.id, 'deliveries'];
  const path = { alert_id: alert.id };
  const deliveries = usePagedQuery<Delivery>(
    () => [...key, status],
    ({ limit }, last) => {
      const before = last && { before_created_at: last.created_at, before_id: last.id };
      const query = { limit, ...(status && { status }), ...before };
      return api.worker.GET('/api/alerts/{alert_id}/deliveries', { params: { path, query } });
    },
    { pageSize: 50 },
  );
  const onSettled = () => queryClient.invalidateQueries({ queryKey: key });
  const replayAll = useMutation({
    onSettled,
    mutationFn: () => api.worker.POST('/api/alerts/{alert_id}/deliveries/replay-dead', { params: { path } }),
    onSuccess: ({ replayed }) =>
      toast(`${formatNumber(replayed)} ${replayed === 1 ? 'delivery' : 'deliveries'} resent`),
  });
  const replay = useMutation({
    onSettled,
    mutationFn: (deliveryId: string) =>
      api.worker.POST('/api/alerts/{alert_id}/deliveries/{delivery_id}/replay', {
        params: { path: { ...path, delivery_id: deliveryId } },
      }),
    onSuccess: () => toast('Delivery resent'),
  });
  const { data: shown } = deliveries;
  return (
    <Panel
      title="Deliveries"
      aside={
        <Group gap="xs">
          {alert.enabled && shown?.some((one) => one.status === 'dead') && (
            <Button size="xs" variant="default" loading={replayAll.isPending} onClick={() => replayAll.mutate()}>
              Resend all failed
            </Button>
          )}
          <NativeSelect
            size="xs"
            aria-label="Filter deliveries by status"
            data={STATUS_OPTIONS}
            {...bindChoice(status, setStatus)}
          />
        </Group>
      }
    >
      <ErrorNotice title="Deliveries not resent" error={replay.error ?? replayAll.error} />
      <ResourceList
        what="The deliveries"
        query={deliveries}
        items={shown}
        height={120}
        more="Show older"
        empty={
          <p className="caption">
            {status
              ? 'No matching deliveries.'
              : 'No deliveries yet. Use “Send test” to try the alert without waiting for an event.'}
          </p>
        }
      >
        {(all) => (
          <Box component="ul" className="divided" my="calc(-1 * var(--space-3))" aria-label="Deliveries">
            {all.map((delivery) => (
              <DeliveryItem
                key={delivery.id}
                delivery={delivery}
                canReplay={alert.enabled}
                isBusy={replay.isPending && replay.variables === delivery.id}
                onReplay={() => replay.mutate(delivery.id)}
              />
            ))}
          </Box>
        )}
      </ResourceList>
    </Panel>
  );
}

interface DeliveryItemProps {
  delivery: Delivery;
  canReplay: boolean;
  isBusy: boolean;
  onReplay: () => void;
}

function DeliveryItem({ delivery, canReplay, isBusy, onReplay }: DeliveryItemProps) {
  const [isOpen, setOpen] = useState(false);
  const { type, channel, status, created_at, attempts, next_attempt_at } = delivery;
  const last = attempts.at(-1);
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles.delivery}>
          <Text span className={styles.what} fw={640}>
            {ALERT_TYPE_LABELS[type]}
          </Text>
          <Text span className={styles.soft} fz="sm" c="dimmed">
            {ALERT_CHANNELS[channel].label}, <Timestamp at={Date.parse(created_at)} />
            {last?.status != null && `, HTTP ${last.status}`}
            {attempts.length > 1 && `, ${attempts.length} attempts`}
            {status === 'pending' && next_attempt_at && (
              <>
                , next attempt <Timestamp at={Date.parse(next_attempt_at)} />
              </>
            )}
          </Text>
          <DeliveryStatusChip status={status} />
          <Stack component="span" className={styles.chevron} gap={0} c="dimmed">
            <DownIcon />
          </Stack>
        </summary>
        {isOpen && (
          <DeliveryDetail delivery={delivery}>
            {canReplay && status !== 'pending' && (
              <Button size="xs" variant="default" loading={isBusy} onClick={onReplay}>
                Resend
              </Button>
            )}
          </DeliveryDetail>
        )}
      </details>
    </li>
  );
}
