import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Event } from '@belay/protocol';
import { built, prepared, type BelayServer } from '@belay/testkit';
import { processorTime } from './processor-time.ts';
import { docker, temporaryFolder, withServer } from './platform.ts';
import { median } from './statistics.ts';
import { fullSize, syntheticRepository } from './synthetic-repository.ts';
import type { Row } from '../bench-table.ts';

/** Share of the whole repository to copy; 1, for all of it, takes about 2 GB of disk. */
const share = Number(process.env.BELAY_BENCH_COPY_IN ?? 0.1);

export const title = `copy-in of a repository: ${Math.round(fullSize.files * share)} files, ${Math.round((fullSize.bytes * share) / 2 ** 20)} MiB and its history`;

const rounds = 3;

/** Copies by Belay and by tar alternate, so that both run under the same load. */
export async function measure(): Promise<Row[]> {
  const { folder, remove } = temporaryFolder();
  const model = await openModel();
  try {
    const repository = join(folder, 'repository');
    syntheticRepository(repository, share);
    const environment = {
      OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
      OPENAI_COMPATIBLE_API_KEY: 'none',
      BELAY_POOL: '0',
    };
    const copies: Copy[] = [];
    const floors: number[] = [];
    await withServer(environment, async (server) => {
      for (let round = 0; round < rounds; round++) {
        floors.push(await tarToVolume(repository));
        copies.push(await copyIn(server, repository, model.asked));
      }
    });
    const floor = median(floors);
    const part = (what: string, of: keyof Copy): Row => {
      const figure = median(copies.map((copy) => copy[of]));
      return { what, figure, unit: 's', target: null };
    };
    return [
      { ...part('run until the model is asked', 'asked'), target: 2 * floor + 1, floor },
      part('of that, until the session is there: the files are listed', 'listed'),
      part('of that, until the files are there: packed, sent and unpacked', 'unpacked'),
      part('from then until the first commit, while the model replies', 'committed'),
      part('processor time of it all, the client without', 'processor'),
    ];
  } finally {
    model.close();
    remove();
  }
}

/** In seconds. */
interface Copy {
  asked: number;
  listed: number;
  unpacked: number;
  committed: number;
  processor: number;
}

async function copyIn(
  server: BelayServer,
  repository: string,
  asked: () => Promise<number>,
): Promise<Copy> {
  const known = new Set((await server.client.sessions.list()).map(({ id }) => id));
  const begun = Date.now();
  const query = asked();
  const belay = built('apps/cli/dist/bundle/belay.cjs');
  const args = ['run', 'Copy', '--workspace', repository, '--model', 'openai-compatible:bench'];
  const child = spawn(process.execPath, [belay, ...args, '--url', server.url], {
    env: { ...process.env, BELAY_TOKEN: server.token },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'exit');
  const failed = ended.then(() => {
    throw new Error(`belay run ended before the model was asked: ${errors}`);
  });
  const at = await Promise.race([query, failed]);
  await ended;
  const session = (await server.client.sessions.list()).find(({ id }) => !known.has(id));
  if (!session) throw new Error(`There is no session: ${errors}`);
  const events = await server.client.sessions.events(session.id);
  const seconds = (event: Event | undefined) =>
    event ? (Date.parse(event.time) - begun) / 1000 : NaN;
  const listed = seconds(events.find(({ action }) => action === 'start'));
  const running = seconds(
    events.find(({ action, args: { state } }) => action === 'state' && state === 'running'),
  );
  const commit = seconds(events.find(({ action }) => action === 'commit'));
  const processor = (await processorTime(server, session.id)) / 1000;
  await server.client.sessions.remove(session.id);
  const unpacked = Math.min(running, (at - begun) / 1000);
  return {
    asked: (at - begun) / 1000,
    listed,
    unpacked: unpacked - listed,
    committed: commit - unpacked,
    processor,
  };
}

/** The floor: tar to tar, from the folder into a new volume, in one container; in seconds. */
async function tarToVolume(repository: string): Promise<number> {
  const container = await docker.createContainer({
    Image: prepared('BELAY_TEST_IMAGE'),
    Entrypoint: ['sleep', '600'],
    User: '0:0',
    Labels: { 'belay.bench': 'raw' },
    HostConfig: {
      NetworkMode: 'none',
      Init: true,
      Mounts: [
        { Type: 'bind', Source: repository, Target: '/from', ReadOnly: true },
        { Type: 'volume', Source: '', Target: '/to' },
      ],
    },
  });
  try {
    await container.start();
    const begun = performance.now();
    const command = ['sh', '-c', 'tar -C /from -c . | tar -C /to -x'];
    const child = spawn('docker', ['exec', container.id, ...command], { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`tar to tar ended with code ${code}.`);
    return (performance.now() - begun) / 1000;
  } finally {
    await container.remove({ force: true, v: true });
  }
}

/** A language model that finishes at once; `asked` resolves to the time of its next request. */
async function openModel() {
  let next: ((at: number) => void) | undefined;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      next?.(Date.now());
      next = undefined;
      const call = { name: 'finish', arguments: JSON.stringify({ summary: 'Copied.' }) };
      const tool = { index: 0, id: `call_${Date.now()}`, type: 'function', function: call };
      const chunk = (choice: object) =>
        `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, ...choice }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        chunk({ delta: { role: 'assistant', tool_calls: [tool] }, finish_reason: null }),
      );
      response.end(`${chunk({ delta: {}, finish_reason: 'tool_calls' })}data: [DONE]\n\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => new Promise<number>((resolve) => (next = resolve)),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
