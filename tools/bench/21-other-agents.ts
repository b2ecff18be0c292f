import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot, start, type BelayServer } from '@belay/testkit';
import { openPlayedModel, type PlayedModelOptions } from './played-model.ts';
import { temporaryFolder, untilEnded, withServer } from './platform.ts';
import { median, percentile } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'a step of a program over ACP, over the same program alone on the host';

const count = 200;
/** The first steps also load what later ones need. */
const warmUp = 20;
const mostAddedMs = 30;
/** Before each reply, in milliseconds: a session may make 120 requests in a minute. */
const replyDelayMs = 260;

const program = join(repositoryRoot, 'e2e/own-agent.mjs');

/** The steps of both sides alternate, so that both run under the same load. */
export async function measure(): Promise<Row[]> {
  const pass = alternating();
  const played: PlayedModelOptions = {
    count,
    replyAt: (step) => ({
      text: `I take step ${step}.`,
      ...(step < count && {
        call: { name: 'bash', input: { command: `echo step ${step} >> steps.txt` } },
      }),
    }),
    stepped: async (step) => {
      await pass(step === count);
      await sleep(replyDelayMs);
    },
  };
  const [ofHost, ofBelay] = [await openPlayedModel(played), await openPlayedModel(played)];
  const environment = {
    OPENAI_COMPATIBLE_BASE_URL: `${ofBelay.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'none',
  };
  try {
    const sides = await withServer(environment, async (server) => {
      const session = await startInBelay(server);
      const end = startOnHost(ofHost.url);
      try {
        const both = Promise.all([ofBelay.steps, ofHost.steps]);
        return await Promise.race([both, untilEnded(server, session)]);
      } finally {
        end();
      }
    });
    const [belay = [], host = []] = sides.map((steps) => steps.slice(warmUp).map(({ ms }) => ms));
    const floor = median(host);
    return [
      { what: 'median', figure: median(belay), unit: 'ms', target: floor + mostAddedMs, floor },
      {
        what: 'p95',
        figure: percentile(belay, 0.95),
        unit: 'ms',
        target: null,
        floor: percentile(host, 0.95),
      },
    ];
  } finally {
    ofHost.close();
    ofBelay.close();
  }
}

/** Lets two sides pass by turns: each waits until the other has arrived after it, except at its end. */
function alternating(): (isLast: boolean) => Promise<void> {
  let release = () => {};
  return (isLast) =>
    new Promise((resolve) => {
      release();
      release = isLast ? () => {} : resolve;
      if (isLast) resolve();
    });
}

/** Returns the id of the session. */
async function startInBelay(server: BelayServer): Promise<string> {
  const command = ['/opt/belay/node', `/workspace/${basename(program)}`, 'acp'];
  await server.client.agents.saveCustom('bench', { command, protocol: 'acp' });
  const folder = ['-C', dirname(program), basename(program)];
  const { workspace } = await server.client.uploads.workspace(
    execFileSync('tar', ['c', ...folder]),
  );
  const session = await start(server, {
    task: 'Take steps.',
    model: 'openai-compatible:bench',
    agent: { name: 'bench' },
    budgets: { steps: 2 * count },
    workspace,
  });
  // A viewer would take processor time from the measured steps.
  session.close();
  return session.id;
}

/** Starts the program with its task; returns what ends it. */
function startOnHost(url: string): () => void {
  const { folder, remove } = temporaryFolder();
  copyFileSync(program, join(folder, basename(program)));
  const child = spawn(process.execPath, [basename(program), 'acp'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: 'none',
      BELAY_MODEL: 'bench',
    },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const prompt = [{ type: 'text', text: 'Take steps.' }];
  const requests = [
    ['initialize', { protocolVersion: 1 }],
    ['session/new', { cwd: folder, mcpServers: [] }],
    ['session/prompt', { prompt }],
  ];
  for (const [id, [method, params]] of requests.entries())
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  return () => {
    child.kill('SIGKILL');
    remove();
  };
}
