import { until } from '@belay/testing';
import type { BelayServer } from './belay-server.js';

/** Waits until so many sandboxes of a server wait for a session, by its metrics at this address. */
export async function untilWarm(
  server: BelayServer,
  count: number,
  metrics: string,
): Promise<void> {
  const wanted = new RegExp(`^belay_sandboxes\\{[^}]*state="warm"[^}]*\\} ${count}$`, 'm');
  // They are served shortly after the server is ready.
  const served = () =>
    fetch(metrics)
      .then((response) => response.text())
      .catch(() => '');
  await until(`${count} sandboxes are warm`, async () => wanted.test(await served()), {
    timeoutMs: 60_000,
    intervalMs: 20,
    state: () => server.log.slice(-2_000),
  });
}
