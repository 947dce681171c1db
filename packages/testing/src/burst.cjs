// Runs in its own thread, so that its work is not measured: sends the same body many times at once.
const { parentPort } = require('node:worker_threads');

parentPort.on('message', async ({ url, text, count }) => {
  const body = Buffer.from(text);
  const headers = { 'content-type': 'application/json' };
  const send = async () => {
    const response = await fetch(url, { method: 'POST', body, headers });
    await response.text();
    return response.status;
  };
  parentPort.postMessage(await Promise.all(Array.from({ length: count }, send)));
});
