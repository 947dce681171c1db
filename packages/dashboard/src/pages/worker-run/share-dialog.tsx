import { Button, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type ShareLink, type WorkerRun } from '../../shell/api';
import { bindText } from '../../ui/bind';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { CopyableCode } from '../../ui/copyable-code';
import { Dialog } from '../../ui/dialog';
import { FormRow, handleSubmit } from '../../ui/form';
import { ListItem } from '../../ui/list-item';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const LIFETIME_OPTIONS = [
  { value: String(HOUR_SECONDS), label: '1 hour' },
  { value: String(DAY_SECONDS), label: '1 day' },
  { value: String(7 * DAY_SECONDS), label: '7 days' },
  { value: String(30 * DAY_SECONDS), label: '30 days' },
  { value: String(90 * DAY_SECONDS), label: '90 days' },
];

const toPathParams = (run: WorkerRun) => ({ path: { run_id: run.id } });
const shareLinksKey = (run: WorkerRun) => ['runs', run.workspace_id, 'share-links', run.id];

/** Creates and revokes links to the run for people without an account. */
export default function ShareDialog({ run, onClose }: { run: WorkerRun; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [seconds, setSeconds] = useState(String(7 * DAY_SECONDS));
  const links = useQuery({
    queryKey: shareLinksKey(run),
    queryFn: () => api.worker.GET('/api/runs/{run_id}/share-links', { params: toPathParams(run) }),
  });
  const create = useMutation({
    mutationFn: () =>
      api.worker.POST('/api/runs/{run_id}/share-links', {
        params: toPathParams(run),
        body: { expires_in_seconds: Number(seconds) },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: shareLinksKey(run) }),
  });
  return (
    <Dialog title="Share this run" onClose={onClose}>
      <Stack gap="md" p="lg">
        <p>
          Anyone with the link can follow the run’s status, steps, log and result live, with no account needed. Inputs,
          step results and files aren’t shared.
        </p>
        <FormRow onSubmit={handleSubmit(() => create.mutate())}>
          <NativeSelect
            size="sm"
            label="Link expires after"
            data={LIFETIME_OPTIONS}
            {...bindText(seconds, setSeconds)}
          />
          <Button type="submit" loading={create.isPending}>
            Create link
          </Button>
        </FormRow>
        <ErrorNotice title="Link not created" error={create.error} />
        {create.data && <CopyableCode label="Copy the link now. It’s shown only once." code={create.data.url} />}
        {links.error ? (
          <LoadErrorNotice what="The links" error={links.error} retry={links.refetch} />
        ) : !links.data ? (
          <Skeleton height={40} />
        ) : (
          links.data.length > 0 && (
            <Stack component="section" gap="sm" mt="xs" aria-label="Active links">
              <h3>Active links</h3>
              <ul className="panel-list divided rows">
                {links.data.map((link) => (
                  <LinkItem key={link.id} run={run} link={link} />
                ))}
              </ul>
            </Stack>
          )
        )}
      </Stack>
    </Dialog>
  );
}

function LinkItem({ run, link }: { run: WorkerRun; link: ShareLink }) {
  const queryClient = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      api.worker.DELETE('/api/runs/{run_id}/share-links/{share_link_id}', {
        params: { path: { run_id: run.id, share_link_id: link.id } },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: shareLinksKey(run) }),
  });
  const creator = link.created_by ?? 'a member';
  return (
    <ListItem
      title={
        <>
          Expires <Timestamp at={Date.parse(link.expires_at)} />
        </>
      }
      about={
        <>
          Created by {creator} <Timestamp at={Date.parse(link.created_at)} />
        </>
      }
    >
      <ConfirmButton label={`Revoke link created by ${creator}`} question="Revoke now" {...toAction(revoke)}>
        Revoke
      </ConfirmButton>
      <ErrorNotice title="Link not revoked" error={revoke.error} />
    </ListItem>
  );
}
