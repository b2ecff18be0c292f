import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isConflict, isGone } from '@belay/containers';
import { ignoreError } from '@belay/protocol';
import Docker from 'dockerode';

export const docker = new Docker();

/** Removes all containers, volumes and images that were made by the server of this data folder. */
export const removeSandboxes = (data: string): Promise<void> =>
  removeLabelled(`belay.data=${data}`);

/** Removes all containers, volumes and images with this label. */
export async function removeLabelled(label: string): Promise<void> {
  const filters = { label: [label] };
  for (const { Id } of await docker.listContainers({ all: true, filters }))
    await removed(() => docker.getContainer(Id).remove({ force: true, v: true }));
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) as never });
  for (const { Name } of Volumes ?? [])
    await removed(() => docker.getVolume(Name).remove({ force: true }));
  for (const { Id } of await docker.listImages({ filters: JSON.stringify(filters) }))
    await removed(() => docker.getImage(Id).remove({ force: true }));
}

/** Another process may remove the resource first, or remove what still uses it. */
async function removed(remove: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await remove();
      return;
    } catch (error) {
      if (isGone(error)) return;
      if (tries === 50 || !isConflict(error)) throw error;
    }
    await sleep(200);
  }
}

/** The container of a session. */
export async function containerOf(session: string): Promise<Docker.Container> {
  const filters = { label: [`belay.session=${session}`] };
  const found = await docker.listContainers({ all: true, filters });
  const first = found[0];
  if (!first) throw new Error(`Session ${session} has no container.`);
  return docker.getContainer(first.Id);
}

/**
 * Kills the agent of a session through the engine, because programs of the sandbox may not.
 * Resolves once it is done.
 */
export async function killAgent(session: string): Promise<void> {
  const container = await containerOf(session);
  // Other processes may end during the search for the agent.
  const kill = `
    const { readdirSync, readFileSync } = require('node:fs');
    for (const pid of readdirSync('/proc').filter(Number))
      try {
        if (Number(pid) !== process.pid && readFileSync('/proc/' + pid + '/cmdline', 'utf8').startsWith('/opt/belay/node'))
          process.kill(pid, 'SIGKILL');
      } catch {}`;
  const exec = await container.exec({
    Cmd: ['/opt/belay/node', '-e', kill],
    AttachStdout: true,
    AttachStderr: true,
  });
  const output = await exec.start({});
  await finished(output.resume()).catch(
    ignoreError('the container may end with its agent, in the middle of the response'),
  );
}
