import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { actionManifest } from '@belay/protocol';
import { belay, BelayServer, docker, repositoryRoot } from '@belay/testkit';
import { step } from '../prepare/steps.mjs';

const folder = join(repositoryRoot, 'examples/actions');

/** Resolves to the exit code: 1 if an example fails, or if the removal leaves anything behind. */
export async function testExamples(): Promise<number> {
  const server = new BelayServer({ BELAY_LOG_LEVEL: 'warn' });
  await server.start();
  let code = 0;
  const fail = (error: unknown): void => {
    console.error(error instanceof Error ? error.message : error);
    code = 1;
  };
  try {
    for (const name of readdirSync(folder)) {
      const away = await hostAway(name);
      if (away === undefined) await step(name, () => testOne(server, name)).catch(fail);
      else console.error(`– ${name}: skipped, because this machine cannot resolve ${away}`);
    }
    await step('removal', () => assertNothingLeft(server.data)).catch(fail);
  } finally {
    await server.dispose();
  }
  return code;
}

async function testOne({ data }: BelayServer, folderName: string): Promise<void> {
  const { name } = manifestOf(folderName);
  for (const args of [
    ['install', join(folder, folderName)],
    ['test', name],
    ['remove', name],
  ]) {
    const { code, stdout, stderr } = await belay(data, ['actions', ...args]);
    if (code !== 0) throw new Error(`${stderr}${stdout}`.trim());
  }
}

/** A declared host that this machine cannot resolve, unless the action needs secrets. */
async function hostAway(folderName: string): Promise<string | undefined> {
  const { permissions } = manifestOf(folderName);
  if (permissions.secrets.length > 0) return undefined;
  for (const host of permissions.network) {
    const found = await lookup(host).catch(() => undefined);
    if (!found) return host;
  }
  return undefined;
}

function manifestOf(folderName: string) {
  const text = readFileSync(join(folder, folderName, 'manifest.json'), 'utf8');
  const { name_for_model: name, permissions } = actionManifest.parse(JSON.parse(text));
  return { name, permissions };
}

async function assertNothingLeft(data: string): Promise<void> {
  const filters = { label: [`belay.data=${data}`] };
  const images = await docker.listImages({ filters: JSON.stringify(filters) });
  const containers = await docker.listContainers({ all: true, filters });
  const { Volumes: volumes } = await docker.listVolumes({
    filters: JSON.stringify(filters) as never,
  });
  const left = [
    `${images.length} images`,
    `${containers.length} containers`,
    `${volumes?.length ?? 0} volumes`,
  ].filter((words) => !words.startsWith('0 '));
  if (left.length > 0) throw new Error(`Left behind: ${left.join(', ')}.`);
}
