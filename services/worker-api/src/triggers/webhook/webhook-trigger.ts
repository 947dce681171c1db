import { z } from 'zod';
import type { TriggerType } from '../trigger-type';

const schema = z.strictObject({ type: z.literal('webhook'), signed: z.boolean().default(false) });

/** `signed`: requests must be signed as Standard Webhooks has it, beside the token. */
export type WebhookInput = z.infer<typeof schema>;

export const buildWebhookUrl = (baseUrl: string, workerId: string): string => `${baseUrl}/api/webhooks/${workerId}`;

export const webhookTrigger = {
  max: 1,
  schema,
  toColumns({ type }, { before }) {
    const { webhookHash = null, webhookPepperVersion = null, webhookSigningKey = null } = before ?? {};
    return { type, on: [], webhookHash, webhookPepperVersion, webhookSigningKey };
  },
  toInput: ({ webhookSigningKey }) => ({ type: 'webhook', signed: webhookSigningKey !== null }),
  // The address is without its token.
  toApi: ({ webhookSigningKey }, { workerId, baseUrl }) => ({
    type: 'webhook' as const,
    webhook_url: buildWebhookUrl(baseUrl, workerId),
    signed: webhookSigningKey !== null,
  }),
  toManifest: ({ type, webhookSigningKey }) => ({ type, ...(webhookSigningKey && { signed: true }) }),
} satisfies TriggerType<WebhookInput>;
