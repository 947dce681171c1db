/** For HEALTHCHECK: exits with 1 unless this container answers with 200. */
export async function checkHealth(port: string, path: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch((err) => err.cause ?? err);
  if (answer.ok) return;
  process.stderr.write(`${answer instanceof Error ? answer.message : `${answer.status} ${await answer.text()}`}\n`);
  process.exitCode = 1;
}
