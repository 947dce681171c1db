/**
 * Dependencies of a saved version are installed before its first run: built services, real pip or uv, a wheel made
 * here.
 */
import fs from 'node:fs';
import { createApiClient } from './api-client';
import { createTemporaryDir } from './run-dir';
import { startStack } from './stack';
import { waitUntil } from './wait-until';
import { writeWheel } from './wheel';

test('the first run after a save finds its dependencies installed, and a set that fails is reported by its run', async () => {
  const wheels = createTemporaryDir('wheels');
  fs.chmodSync(wheels, 0o755);
  await writeWheel(wheels, { name: 'gantrysaved', source: 'VALUE = "installed"' });
  const stack = await startStack({ env: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels } });
  try {
    const call = createApiClient(stack.workerUrls[0] as string, stack.token);
    const save = async (id: string, dependency: string) => {
      const content = 'def run():\n    import gantrysaved\n    return gantrysaved.VALUE\n';
      const worker = { id, name: id, files: [{ path: 'main.py', content }], python_dependencies: [dependency] };
      expect((await call('POST', '/api/workers', worker)).status).toBe(201);
    };
    const startRun = async (id: string) => {
      const started = await call('POST', `/api/workers/${id}/runs`, {});
      return waitUntil(async () => {
        const { body } = await call('GET', `/api/runs/${started.body.run_id}`);
        return ['completed', 'failed'].includes(body.status) && body;
      });
    };
    await save('missing', 'nosuchpackage');
    await save('saved', 'gantrysaved');
    await waitUntil(() => /"dependencies":\["gantrysaved"\].*"msg":"prepared"/.test(stack.output()));
    const first = await startRun('saved');
    expect(first).toMatchObject({ status: 'completed', output: { result: 'installed' } });
    const log = await call('GET', `/api/runs/${first.id}/logs`);
    expect(log.status).toBe(200);
    expect(JSON.stringify(log.body)).not.toContain('Installing dependencies');
    expect(stack.output()).not.toContain('uv does not work on this machine');
    expect(await startRun('missing')).toMatchObject({ status: 'failed', error_code: 'dependency_install' });
  } finally {
    await stack.stop();
  }
});
