import { Box, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { OutputJson } from '../outputs/output-json';
import { OutputTable } from '../outputs/output-table';
import { toTable } from '../outputs/table-data';
import { DetailList } from '../ui/detail-list';
import { isJsonObject, type JsonObject } from '../ui/json';

const OutputMarkdown = lazy(() => import('../outputs/output-markdown'));

const FIELDS_MAX = 40;

/** Shows the message and the data to review before deciding. */
export function ApprovalRequestContent({ message, data }: { message: string | null; data: unknown }) {
  const hasData = data !== null && data !== undefined && !(isJsonObject(data) && Object.keys(data).length === 0);
  if (!message && !hasData)
    return (
      <Text fw={400} c="dimmed">
        No further details.
      </Text>
    );
  return (
    <Stack gap="lg">
      {message && (
        <section aria-label="Message">
          <h3 className="visually-hidden">Message</h3>
          <Suspense fallback={<Skeleton height={60} />}>
            <OutputMarkdown text={message} />
          </Suspense>
        </section>
      )}
      {hasData && (
        <section aria-label="Data">
          <Box component="h3" mb="xs" c="dimmed">
            Data
          </Box>
          <RequestData value={data} />
        </section>
      )}
    </Stack>
  );
}

function RequestData({ value }: { value: unknown }): ReactNode {
  if (typeof value === 'string') return <Text className="pre-wrap wrap-anywhere">{value}</Text>;
  const table = Array.isArray(value) && value.length > 0 ? toTable(value) : null;
  if (table) return <OutputTable name="data" label="Data" table={table} />;
  if (isJsonObject(value) && isFlat(value)) {
    return <DetailList details={Object.entries(value).map(([name, each]) => [name, renderFieldValue(each)])} />;
  }
  return <OutputJson value={value} />;
}

const renderFieldValue = (value: unknown): ReactNode =>
  value === null || value === '' ? (
    <Text span fw={400} c="dimmed">
      empty
    </Text>
  ) : (
    String(value)
  );

const isFlat = (value: JsonObject): boolean =>
  Object.keys(value).length <= FIELDS_MAX &&
  Object.values(value).every((each) => each === null || typeof each !== 'object');
