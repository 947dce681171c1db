import { connectBus, runSubjects } from '@gantry/events';
import { captureLogs, setupResource, waitUntil } from '@gantry/testing';
import { createArtifact, helloManifest, testService } from '../test/service';

const service = testService();
const me = setupResource(() => service.createCaller());

test('executors are told the packages of each artifact and deployment, and of nothing else', async () => {
  const announced: unknown[] = [];
  const executor = await connectBus({ ...service.nats.newExecutor(), name: 'executor', log: captureLogs().log });
  executor.nc.subscribe(runSubjects.prepare, { callback: (_, message) => void announced.push(message.json()) });
  await executor.nc.flush();
  const createWithDependencies = (python_dependencies: string[]) =>
    createArtifact(me, { manifest: { ...helloManifest, python_dependencies } });
  const first = await createWithDependencies(['pandas==2.2.3']);
  const { body } = await me.post('/api/deploy', { artifactId: first }).expect(201);
  const second = await createWithDependencies(['rich']);
  await me.post(`/api/automations/${body.id}/update`, { artifactId: second }).expect(200);
  await me.post(`/api/automations/${body.id}/rollback`, {}).expect(200);
  await createWithDependencies([]);
  await waitUntil(() => announced.length === 5);
  expect(announced.map((each) => (each as { dependencies: string[] }).dependencies[0])).toEqual([
    ...['pandas==2.2.3', 'pandas==2.2.3'],
    ...['rich', 'rich', 'pandas==2.2.3'],
  ]);
  const installation = { source: 'automation', id: expect.stringMatching(/^ins_/) };
  expect(announced[0]).toEqual({ dependencies: ['pandas==2.2.3'], installation });
  await executor.nc.close();
});
