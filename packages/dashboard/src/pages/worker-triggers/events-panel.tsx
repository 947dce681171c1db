import { Button, NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { useNamedAutomations } from '../../automations/use-named-automations';
import { api, type Trigger, type Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { bindText } from '../../ui/bind';
import { CheckboxList } from '../../ui/checkbox-list';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { ListItem } from '../../ui/list-item';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { canEditWorker } from '../../workers/can-edit-worker';
import { EVENT_NAMES, type EventName, formatTrigger, getEventLabel } from '../../workers/trigger-descriptions';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { workerKeys } from '../../workers/use-worker';
import { replaceTriggers } from './trigger-list';
import styles from './triggers.module.css';

const EVENTS_MAX = 10;
const WORKERS_MAX = 200;
/** Names change seldom. */
const STALE_MS = 60_000;

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const EVENT_LABELS = Object.fromEntries(EVENT_NAMES.map((name) => [name, capitalize(getEventLabel(name))])) as Record<
  EventName,
  string
>;
const getEventKey = ({ on = [], source_id }: Trigger): string => `${on.join()} ${source_id}`;

/** Edits the events of other workers and automations that start it. */
export function EventsPanel({ worker }: { worker: Worker }) {
  const [isAdding, setAdding] = useState(false);
  const events = worker.triggers.filter(({ type }) => type === 'event');
  const canEdit = canEditWorker(worker);
  const sources = useEventSources(worker.id);
  const getSourceName = (id: string) => sources.find(({ value }) => value === id)?.label ?? id;
  const change = useUpdateWorker(worker.id, () => setAdding(false));
  const toChange = (newEvents: Trigger[]) => replaceTriggers(worker, 'event', newEvents);
  const removeEvent = (event: Trigger) =>
    change.mutate(toChange(events.filter((one) => one !== event)), {
      onSuccess: () => toast('Event removed', { undo: () => change.mutate(toChange(events)) }),
    });
  return (
    <Panel
      title="Events"
      aside={
        canEdit &&
        !isAdding &&
        events.length < EVENTS_MAX && (
          <Button variant="default" onClick={() => setAdding(true)}>
            Add event
          </Button>
        )
      }
    >
      <Stack gap="md">
        {events.length > 0 && (
          <ul className="panel-list divided rows">
            {events.map((event) => (
              <ListItem
                key={getEventKey(event)}
                title={capitalize(formatTrigger({ ...event, source_id: null }))}
                about={
                  event.source_id ? `From ${getSourceName(event.source_id)}` : 'From any other worker or automation'
                }
              >
                {canEdit && (
                  <Button
                    variant="default"
                    aria-label={`Remove event: ${formatTrigger(event)}`}
                    loading={change.isPending}
                    onClick={() => removeEvent(event)}
                  >
                    Remove
                  </Button>
                )}
              </ListItem>
            ))}
          </ul>
        )}
        {events.length === 0 && !isAdding && (
          <p className="help-text">
            No event triggers yet. Add an event to start this worker when, for example, another worker’s run completes.
          </p>
        )}
        {isAdding && (
          <EventForm
            sources={sources}
            busy={change.isPending}
            onAdd={(event) => change.mutate(toChange([...events, event]))}
            onClose={() => setAdding(false)}
          />
        )}
        <ErrorNotice title="Events not saved" error={change.error} />
      </Stack>
    </Panel>
  );
}

interface EventFormProps {
  sources: EventSource[];
  busy: boolean;
  onAdd: (event: Trigger) => void;
  onClose: () => void;
}

function EventForm({ sources, busy, onAdd, onClose }: EventFormProps) {
  const [selectedEvents, setSelectedEvents] = useState<EventName[]>(['run.failed']);
  const [source, setSource] = useState('');
  function submit() {
    if (selectedEvents.length) onAdd({ type: 'event', on: selectedEvents, source_id: source || null });
  }
  return (
    <FormStack onSubmit={handleSubmit(submit)}>
      <Stack component="fieldset" className={styles.inputs} gap="sm" maw="34rem">
        <legend>Start this worker when</legend>
        <CheckboxList options={EVENT_NAMES} labels={EVENT_LABELS} value={selectedEvents} onChange={setSelectedEvents} />
      </Stack>
      <NativeSelect
        maw="26rem"
        label="Source"
        {...bindText(source, setSource)}
        data={[{ value: '', label: 'Any worker or automation' }, ...sources]}
      />
      <FormActions submit="Add event" isBusy={busy} isDisabled={selectedEvents.length === 0} onCancel={onClose} />
    </FormStack>
  );
}

interface EventSource {
  value: string;
  label: string;
}

/** Lists the workers and automations whose events can start it. */
function useEventSources(ownId: string): EventSource[] {
  const workers = useWorkspaceQuery(
    (workspaceId) => workerKeys.list(workspaceId, { names: true }),
    () => api.worker.GET('/api/workers', { params: { query: { limit: WORKERS_MAX } } }),
    { staleTime: STALE_MS },
  );
  const automations = useNamedAutomations({ staleTime: STALE_MS });
  const all = [...(workers.data ?? []), ...automations];
  return all.filter(({ id }) => id !== ownId).map(({ id, name }) => ({ value: id, label: name }));
}
