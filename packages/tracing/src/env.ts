import { z } from 'zod';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** OpenTelemetry takes a variable that is empty for one that is not set. */
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

/** The standard variables of OpenTelemetry that a service takes, so that a wrong one stops its start. */
export const tracingEnv = {
  /** Absent: no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(z.url()),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(z.url()),
  OTEL_EXPORTER_OTLP_PROTOCOL: optional(z.literal('http/json', { error: 'only http/json is supported' })),
  OTEL_EXPORTER_OTLP_HEADERS: optional(z.string()),
  OTEL_TRACES_SAMPLER: optional(z.enum(samplers)),
  OTEL_TRACES_SAMPLER_ARG: optional(z.coerce.number().min(0).max(1)),
  OTEL_SERVICE_NAME: optional(z.string()),
  OTEL_RESOURCE_ATTRIBUTES: optional(z.string()),
  OTEL_SDK_DISABLED: optional(z.enum(['true', 'false'])),
};

/** Variables of services that show runs. */
export const traceLinkEnv = {
  /** Address of a trace where operators look at traces, with `{trace_id}`: a run's detail links to it. */
  TRACE_URL_TEMPLATE: optional(
    z.url({ protocol: /^https?$/ }).refine((template) => template.includes('{trace_id}'), 'must contain {trace_id}'),
  ),
};

const env = z.object(tracingEnv);
export type TracingEnv = z.infer<typeof env>;
