// Tasks of the tests: `text` is answered in upper case, numbers are milliseconds of work, `leak` takes memory without end.
const { parentPort } = require('node:worker_threads');

function handle(task) {
  if (task === 'leak') for (const kept = []; ; ) kept.push(new Array(100_000).fill(kept.length));
  if (task === 'throw') throw new Error('not this one');
  const end = performance.now() + Number(task);
  while (performance.now() < end);
  return String(task).toUpperCase();
}

parentPort.on('message', (task) => {
  try {
    parentPort.postMessage({ result: handle(task) });
  } catch (err) {
    parentPort.postMessage({ problem: err.message });
  }
});
parentPort.postMessage({ ready: true });
