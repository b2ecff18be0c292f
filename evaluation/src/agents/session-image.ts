import { labels } from '@belay/containers';
import { buildImage } from '../engine/task-files.js';
import { contentHash, fileEntry } from '../entries.js';
import { Unsupported } from '../model.js';
import type { TrialContext } from './agent.js';

/**
 * The image of a session: the task's own, or one made from it with the task's variables and with the
 * names of its services. A sandbox's home folder is its own.
 */
export async function sessionImage({
  engine,
  image,
  services,
  task: {
    environment: { env },
  },
  signal,
}: TrialContext): Promise<string> {
  const variables = Object.entries(env)
    .filter(([name]) => name !== 'HOME')
    .map(([name, value]) => `ENV ${named(name)}=${quoted(value)}\n`);
  const names = services ? [`LABEL ${labels.hosts}=${quoted(services.hosts.join(' '))}\n`] : [];
  if (names.length + variables.length === 0) return image.name;
  const files = [
    fileEntry('Dockerfile', [`FROM ${image.name}\n`, ...variables, ...names].join('')),
  ];
  const tag = `belay/evaluation-task:${contentHash(image.id, files).slice(0, 16)}`;
  if (!(await engine.image(tag))) await buildImage(engine, tag, { files, signal });
  return tag;
}

function named(name: string): string {
  if (/^[\w.-]+$/.test(name)) return name;
  throw new Unsupported('One of its variables has a name that sessions cannot be given.');
}

function quoted(value: string): string {
  if (/[\r\n]/.test(value))
    throw new Unsupported(
      'One of its variables has several lines, which sessions cannot be given.',
    );
  return `"${value.replaceAll(/["\\$]/g, '\\$&')}"`;
}
