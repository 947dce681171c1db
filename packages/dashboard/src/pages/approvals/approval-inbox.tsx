import { Box, Button, Skeleton, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router';
import type { DecisionFormHandle, Verdict } from '../../approvals/decision-form';
import type { Approval } from '../../shell/api';
import { LinkTabs } from '../../shell/link-tabs';
import { getApprovalIdParam, paths } from '../../shell/paths';
import { useShortcuts } from '../../shell/shortcuts';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import type { ListQuery } from '../../ui/resource-list';
import { ApprovalItem } from './approval-item';
import { ApprovalPane } from './approval-pane';
import { useApproval } from './approval-queries';
import styles from './approvals-page.module.css';

const COLUMNS = 'minmax(15rem, 22rem) minmax(0, 1fr)';

interface ApprovalInboxProps {
  list: ListQuery;
  /** Undefined until they are loaded. */
  approvals: Approval[] | undefined;
  empty: ReactNode;
  announcement?: ReactNode;
  onDecided?: (approval: Approval, verdict: Verdict) => Promise<void>;
  onOutdated?: () => Promise<void>;
}

/** Shows a list of approvals beside the open one: that of the URL, or else the first. */
export function ApprovalInbox({ list, approvals, empty, announcement, onDecided, onOutdated }: ApprovalInboxProps) {
  useTitle('Approvals');
  const [search, setSearch] = useSearchParams();
  const requestedId = getApprovalIdParam(search);
  const listedApproval = approvals?.find(({ id }) => id === requestedId);
  const unlistedApproval = useApproval(approvals && !listedApproval ? requestedId : null);
  const open = listedApproval ?? unlistedApproval.data ?? (requestedId ? undefined : approvals?.[0]);
  const openIndex = approvals?.findIndex(({ id }) => id === open?.id) ?? -1;
  const steps = useRef<DecisionFormHandle>(null);
  const pane = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  const openApproval = (approval: Approval | undefined) => {
    if (approval) setSearch({ approval: approval.id }, { replace: true, preventScrollReset: true });
  };
  const focusPane = () => {
    pane.current?.scrollIntoView({ block: 'nearest' });
    pane.current?.focus({ preventScroll: true });
  };

  useShortcuts('Approvals', [
    { keys: 'j', description: 'Next approval', run: () => openApproval(approvals?.[openIndex + 1]) },
    { keys: 'k', description: 'Previous approval', run: () => openApproval(approvals?.[Math.max(0, openIndex - 1)]) },
    { keys: 'a', description: 'Approve (press Enter to confirm)', run: () => steps.current?.approve() },
    {
      keys: 'r',
      description: 'Reject with a reason (press Ctrl+Enter to confirm)',
      run: () => steps.current?.reject(),
    },
  ]);

  // Scrolls the list on keyboard navigation, but not on the first render.
  const openId = open?.id;
  useEffect(() => {
    if (!isFirst.current && openId)
      document.getElementById(getItemElementId(openId))?.scrollIntoView({ block: 'nearest' });
    isFirst.current = false;
  }, [openId]);

  async function handleDecided(approval: Approval, verdict: Verdict) {
    // Without an id in the address the next one in the list opens.
    setSearch({}, { replace: true });
    await onDecided?.(approval, verdict);
  }

  return (
    <>
      <PageHeader title="Approvals" about="Runs and proposed versions waiting for a decision. Decisions are final." />
      <LinkTabs
        label="Approvals"
        tabs={[
          { to: paths.approvals, label: 'Pending' },
          { to: paths.decidedApprovals, label: 'Decided' },
        ]}
      />
      {announcement}
      {list.error && !approvals ? (
        <LoadErrorNotice what="The approvals" error={list.error} retry={list.refetch} />
      ) : !approvals ? (
        <Columns widths={COLUMNS} aria-busy>
          <Skeleton height={280} radius={10} />
          <Skeleton height={360} radius={10} />
        </Columns>
      ) : approvals.length === 0 && !open && !list.hasNextPage ? (
        <Box p="32px 0">{empty}</Box>
      ) : (
        <Columns widths={COLUMNS}>
          <Stack className={styles.side} gap="sm">
            <ul className={`${styles.list} divided surface`} aria-label="Approvals">
              {approvals.map((approval) => (
                <ApprovalItem
                  key={approval.id}
                  id={getItemElementId(approval.id)}
                  approval={approval}
                  isOpen={approval.id === openId}
                  onOpen={focusPane}
                />
              ))}
            </ul>
            {list.hasNextPage && (
              <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage?.()}>
                Show older
              </Button>
            )}
            {onDecided && (
              <Text className={styles.keys} fz="xs" c="dimmed" aria-hidden="true">
                <kbd>j</kbd> <kbd>k</kbd> move <kbd>a</kbd> approve <kbd>r</kbd> reject
              </Text>
            )}
          </Stack>
          <section ref={pane} tabIndex={-1} style={{ outline: 'none' }} aria-label="Selected approval">
            {open ? (
              <ApprovalPane
                key={open.id}
                ref={steps}
                approval={open}
                onDecided={handleDecided}
                onOutdated={async () => {
                  setSearch({ approval: open.id }, { replace: true });
                  await onOutdated?.();
                }}
              />
            ) : unlistedApproval.error ? (
              <Notice tone="error">This approval was deleted or belongs to another workspace.</Notice>
            ) : (
              <Skeleton height={360} radius={10} />
            )}
          </section>
        </Columns>
      )}
    </>
  );
}

const getItemElementId = (approvalId: string) => `in-list-${approvalId}`;
