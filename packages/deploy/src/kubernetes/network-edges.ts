/**
 * Every connection that the platform opens. The NetworkPolicies and docs/operations/network.md are made from this
 * table, and a test compares it with the variables of the manifests and with the NATS permissions.
 */

/** A Pod's `app.kubernetes.io/name` by namespace, and the label that all of a party's Pods share. */
export const parties = {
  gateway: { namespace: 'gantry', labels: { 'app.kubernetes.io/name': 'gateway' } },
  'worker-api': { namespace: 'gantry', labels: { 'app.kubernetes.io/name': 'worker-api' } },
  'automation-api': { namespace: 'gantry', labels: { 'app.kubernetes.io/name': 'automation-api' } },
  'skills-api': { namespace: 'gantry', labels: { 'app.kubernetes.io/name': 'skills-api' } },
  migrations: { namespace: 'gantry', labels: { 'app.kubernetes.io/component': 'migrations' } },
  'generate-secrets': { namespace: 'gantry', labels: { 'app.kubernetes.io/component': 'setup' } },
  executor: { namespace: 'gantry-runs', labels: { 'app.kubernetes.io/name': 'executor' } },
  postgres: { namespace: 'gantry', labels: { 'app.kubernetes.io/name': 'postgres' } },
  nats: { namespace: 'gantry', labels: { 'app.kubernetes.io/name': 'nats' } },
} as const;

export type Party = keyof typeof parties;

/** Outside the cluster. `anywhere` includes private networks, where load balancers and API servers are. */
export type ExternalParty = 'anywhere' | 'public internet';

export interface Edge {
  from: Party | ExternalParty;
  to: Party | ExternalParty;
  /** Absent: every port. */
  ports?: readonly number[];
  why: string;
}

const HTTP = [3000];
const POSTGRES = [5432];
const NATS = [4222];

export const edges: readonly Edge[] = [
  { from: 'anywhere', to: 'gateway', ports: [8080, 8081, 8082], why: 'people and programs' },
  { from: 'gateway', to: 'worker-api', ports: HTTP, why: 'worker surface; sign-in for all three surfaces' },
  {
    from: 'gateway',
    to: 'automation-api',
    ports: HTTP,
    why: 'automation surface, dashboard, object store files',
  },
  { from: 'gateway', to: 'skills-api', ports: HTTP, why: 'skills surface' },
  { from: 'automation-api', to: 'worker-api', ports: HTTP, why: 'public keys for access tokens (`JWKS_URL`)' },
  { from: 'skills-api', to: 'worker-api', ports: HTTP, why: 'public keys for access tokens (`JWKS_URL`)' },
  { from: 'worker-api', to: 'automation-api', ports: HTTP, why: 'tools of `/mcp` (`AUTOMATION_API_URL`)' },
  { from: 'worker-api', to: 'skills-api', ports: HTTP, why: 'tools of `/mcp` (`SKILLS_API_URL`)' },
  { from: 'executor', to: 'worker-api', ports: HTTP, why: 'presigned file store URLs; unused with S3' },
  { from: 'executor', to: 'automation-api', ports: HTTP, why: 'presigned file store URLs; unused with S3' },
  { from: 'worker-api', to: 'nats', ports: NATS, why: 'claims, run events, domain events, credential checks' },
  { from: 'automation-api', to: 'nats', ports: NATS, why: 'claims, run events, domain events, credential checks' },
  { from: 'skills-api', to: 'nats', ports: NATS, why: 'domain events, credential checks' },
  { from: 'executor', to: 'nats', ports: NATS, why: 'claims, leases and events for its own runs' },
  { from: 'worker-api', to: 'postgres', ports: POSTGRES, why: 'its database `worker_api`' },
  { from: 'automation-api', to: 'postgres', ports: POSTGRES, why: 'its database `automation_api`' },
  { from: 'skills-api', to: 'postgres', ports: POSTGRES, why: 'its database `skills_api`' },
  { from: 'migrations', to: 'postgres', ports: POSTGRES, why: "its service's database" },
  { from: 'worker-api', to: 'public internet', why: 'alerts, mail, identity providers' },
  {
    from: 'executor',
    to: 'public internet',
    why: 'requests from runs, through the egress proxy; packages; presigned S3 URLs',
  },
  {
    from: 'generate-secrets',
    to: 'anywhere',
    why: 'the Kubernetes API server, whose address only the cluster knows',
  },
];
