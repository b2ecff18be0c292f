import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { withServer } from './platform.ts';
import { median, timed } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'server start on a prepared machine, until /health answers';

/** The floor is a Node process that starts and ends. */
export async function measure(): Promise<Row[]> {
  const samples = await timed(5, () =>
    withServer({}, async (server) => {
      const response = await fetch(`${server.url}/health`);
      if (!response.ok) throw new Error(`/health answered ${response.status}`);
    }),
  );
  const floor = median(await timed(5, () => once(spawn(process.execPath, ['-e', '']), 'exit')));
  return [{ what: 'median', figure: median(samples), unit: 'ms', target: 1_500, floor }];
}
