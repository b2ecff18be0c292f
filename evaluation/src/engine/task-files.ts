import {
  hosts,
  type BuildOptions,
  type TaskContainer,
  type TaskEngine,
  type TaskHost,
  type TaskSpec,
} from '@belay/containers';
import { fileEntry, packArchive, readArchive, type Entry } from '../entries.js';
import type { ReadBudget } from '../read-budget.js';

/** Creates a container with these files at absolute paths, without starting it. */
export async function createTask(
  host: TaskHost,
  { files, ...spec }: Omit<TaskSpec, 'archive'> & { files: Entry[] },
): Promise<TaskContainer> {
  // Written also where the container has the network of another one.
  const named = spec.hosts ? [fileEntry('/etc/hosts', hosts.content(spec.hosts))] : [];
  return host.create({ ...spec, archive: await packArchive([...named, ...files]) });
}

/** Builds an image from these files; the Dockerfile is one of them. */
export async function buildImage(
  engine: TaskEngine,
  tag: string,
  { files, ...options }: BuildOptions & { files: Entry[] },
): Promise<void> {
  const dockerfile = files.find(({ path }) => path === 'Dockerfile')?.bytes.toString() ?? '';
  await engine.build(tag, { archive: await packArchive(files), dockerfile }, options);
}

/**
 * A file of a container, or a folder with its content; empty if it does not exist. Paths are absolute. Rejects with
 * `Refused`.
 */
export async function readFiles(
  container: TaskContainer,
  path: string,
  budget?: ReadBudget,
): Promise<Entry[]> {
  const archive = await container.archiveOf(path);
  return archive ? readArchive(archive, parentOf(path), budget) : [];
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';
