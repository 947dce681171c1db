/** Started by a test as a separate process, to be killed: runs something and prints its processes. */
import { listDescendants } from './processes';
import { startTestSandbox } from './sandbox-fixture';

async function main() {
  const { sandbox, run, settings } = await startTestSandbox();
  void run(
    'import subprocess, time\ndef run():\n    subprocess.Popen(["/usr/bin/sleep", "62"])\n    print("up", flush=True)\n    time.sleep(60)\n',
    {
      hooks: {
        onStream: () => {
          const pids = listDescendants(process.pid).map(({ pid }) => pid);
          process.stdout.write(
            `${JSON.stringify({ pids, runDir: settings.runDir, zygote: sandbox.pool?.current?.pid })}\n`,
          );
        },
      },
    },
  );
}

void main();
