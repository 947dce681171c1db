import { type Edge, type ExternalParty, edges, type Party, parties } from './network-edges';
import type { KubernetesObject } from './rendered-manifests';

const isParty = (end: Party | ExternalParty): end is Party => end in parties;

/** As `BlockList` of packages/safe-fetch refuses them. */
const NOT_PUBLIC = {
  v4: ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  v6: ['::/127', 'fc00::/7', 'fe80::/10', '64:ff9b::/96'],
};

function listPeers(endpoint: Party | ExternalParty): object[] {
  if (isParty(endpoint)) {
    const { namespace, labels } = parties[endpoint];
    return [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        podSelector: { matchLabels: labels },
      },
    ];
  }
  if (endpoint === 'anywhere') return [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }];
  return [
    { ipBlock: { cidr: '0.0.0.0/0', except: NOT_PUBLIC.v4 } },
    { ipBlock: { cidr: '::/0', except: NOT_PUBLIC.v6 } },
  ];
}

const toPolicyPorts = (edge: Edge) => edge.ports && { ports: edge.ports.map((port) => ({ protocol: 'TCP', port })) };

const buildPolicy = (name: string, namespace: string, spec: object): KubernetesObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace },
  spec,
});

/** The cluster's DNS servers, or a cache on the node. */
const DNS = {
  to: [
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
    { ipBlock: { cidr: '169.254.20.10/32' } },
  ],
  ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })),
};

/** Nothing may talk to anything, everything may resolve names, and each party may do what its edges say. */
export function buildNetworkPolicies(): KubernetesObject[] {
  const namespaces = [...new Set(Object.values(parties).map(({ namespace }) => namespace))];
  return [
    ...namespaces.map((namespace) =>
      buildPolicy('default-deny', namespace, { podSelector: {}, policyTypes: ['Ingress', 'Egress'], egress: [DNS] }),
    ),
    ...(Object.keys(parties) as Party[]).map((party) => {
      const ingress = edges
        .filter(({ to }) => to === party)
        .map((edge) => ({ from: listPeers(edge.from), ...toPolicyPorts(edge) }));
      const egress = edges
        .filter(({ from }) => from === party)
        .map((edge) => ({ to: listPeers(edge.to), ...toPolicyPorts(edge) }));
      return buildPolicy(party, parties[party].namespace, {
        podSelector: { matchLabels: parties[party].labels },
        policyTypes: ['Ingress', 'Egress'],
        ...(ingress.length && { ingress }),
        ...(egress.length && { egress }),
      });
    }),
  ];
}
