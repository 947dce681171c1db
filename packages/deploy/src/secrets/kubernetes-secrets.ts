/** The same secrets as objects of Kubernetes, read and written as the Pod's service account. */
import fs from 'node:fs';
import https from 'node:https';
import { completeSecrets, isExecutorReader, readers, type Secrets } from './installation-secrets';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

interface Namespaces {
  services: string;
  /** Namespace of the executors. */
  runs: string;
}

/** @returns names of what was made. @throws Error where the API server refuses */
export async function completeKubernetesSecrets(namespaces: Namespaces): Promise<string[]> {
  const toSecretsPath = (reader: string) =>
    `/api/v1/namespaces/${isExecutorReader(reader) ? namespaces.runs : namespaces.services}/secrets`;
  const found = await Promise.all(
    readers.map((reader) => callKubernetesApi('GET', `${toSecretsPath(reader)}/${reader}`)),
  );
  const kept: Secrets = Object.fromEntries(readers.map((reader, i) => [reader, decodeData(found[i]?.body.data)]));
  const made: string[] = [];
  for (const [reader, values] of Object.entries(completeSecrets(kept))) {
    const news = Object.entries(values).filter(([key, value]) => kept[reader]?.[key] !== value);
    if (!news.length) continue;
    const exists = kept[reader] && found[readers.indexOf(reader as (typeof readers)[number])]?.status === 200;
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: reader, labels: { 'app.kubernetes.io/name': reader, 'app.kubernetes.io/part-of': 'gantry' } },
      data: Object.fromEntries(news.map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
    };
    const { status, body } = exists
      ? await callKubernetesApi('PATCH', `${toSecretsPath(reader)}/${reader}`, object)
      : await callKubernetesApi('POST', toSecretsPath(reader), object);
    if (status >= 300) throw new Error(`Secret ${reader} was refused: ${body.message}`);
    made.push(...news.map(([key]) => `${reader}/${key}`));
  }
  return made;
}

const decodeData = (data: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));

interface ApiResponse {
  status: number;
  body: { data?: Record<string, string>; message?: string };
}

function callKubernetesApi(method: string, path: string, body?: object): Promise<ApiResponse> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const options = {
    method,
    host,
    port,
    path,
    ca: fs.readFileSync(`${ACCOUNT}/ca.crt`),
    headers: {
      authorization: `Bearer ${fs.readFileSync(`${ACCOUNT}/token`, 'utf8').trim()}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    },
  };
  return new Promise((resolve, reject) => {
    const request = https.request(options, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      const status = response.statusCode ?? 0;
      if (status === 200 || status === 201 || status === 404) resolve({ status, body: JSON.parse(text) });
      else reject(new Error(`the API server responded to ${method} ${path} with ${status}: ${text.slice(0, 500)}`));
    });
    request.once('error', reject).end(body && JSON.stringify(body));
  });
}
