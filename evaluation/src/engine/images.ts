import { AppError } from '@belay/protocol';
import { file, hashOf, type Entry } from '../entries.js';
import type { ImageSource, RepositorySource, ToolchainName } from '../model.js';
import { withLocalImages } from './dockerfile.js';
import type { Engine, ImageFacts } from './engine.js';
import { commitOf, mirrorOf } from './mirror.js';
import { repositoryImage } from './repository-image.js';
import { toolchain } from './toolchains.js';

/** Names in FROM lines, with `*`, and the local image that stands in for them; `@base` is the helper image. */
export type FromMap = [pattern: string, image: string][];

export const defaultFromMap: FromMap = [
  ['ubuntu:*', '@base'],
  ['debian:*', '@base'],
  ['python:*', '@base'],
  ['*/t-bench/*', '@base'],
];

export interface ImagesOptions {
  engine: Engine;
  /** The platform's sandbox image, that helper images are made from; null takes the newest that is here. */
  sandbox: string | null;
  fromMap: FromMap;
  /** A folder with clones of repositories, for tasks whose image is not here. */
  repos?: string | null;
}

/** Task images: named, built from the task's Dockerfile, or the helper images. Each is built once. */
export class Images {
  readonly #making = new Map<string, Promise<ImageFacts & { name: string }>>();

  constructor(private readonly options: ImagesOptions) {}

  /** Resolves to an image that is on the engine; rejects with `invalid_input` when it cannot be built. */
  ensure(source: ImageSource, signal: AbortSignal): Promise<ImageFacts & { name: string }> {
    const key = hashOf(source);
    let made = this.#making.get(key);
    if (!made) {
      made = this.#make(source, key, signal);
      this.#making.set(key, made);
      // A build that failed or was interrupted is tried again by the next trial.
      made.catch(() => this.#making.delete(key));
    }
    return made;
  }

  /** What an image would be made from, without making it: other stamps are other images. */
  async stamp(source: ImageSource): Promise<string> {
    const idOf = async (name: string) => (await this.options.engine.image(name))?.id ?? null;
    const base = await (this.#baseStamp ??= this.#sandboxName().then(async (name) =>
      hashOf(name && (await idOf(name)), toolchain('base'), this.options.fromMap),
    ));
    if (source.kind === 'toolchain') return hashOf(base, toolchain(source.name));
    const ids = await Promise.all((await namesIn(source)).map(idOf));
    return hashOf(base, source, ids);
  }
  #baseStamp: Promise<string> | undefined;

  async #make(source: ImageSource, key: string, signal: AbortSignal) {
    if (source.kind === 'toolchain') return this.#toolchain(source.name, signal);
    if (source.kind === 'repository') return this.#repository(source, signal);
    if (source.kind === 'image') {
      const name = await this.#mapped(source.name, signal);
      const facts = await this.options.engine.image(name);
      if (facts) return { ...facts, name };
      throw new AppError(
        'invalid_input',
        `The image ${name} is not on this engine: pull it, or name one that is with --from-map ${name}=IMAGE.`,
      );
    }
    const files = await this.#localDockerfile(source.files, signal);
    return this.#built(`belay/evaluation-task:${hashOf(key, files).slice(0, 16)}`, files, {
      signal,
    });
  }

  async #toolchain(
    name: ToolchainName,
    signal: AbortSignal,
  ): Promise<ImageFacts & { name: string }> {
    const files = toolchain(name);
    const from =
      name === 'base'
        ? await this.#sandbox()
        : (await this.ensure({ kind: 'toolchain', name: 'base' }, signal)).name;
    const tag = `belay/evaluation-${name}:${hashOf(files, from).slice(0, 16)}`;
    return this.#built(tag, files, { signal, args: { BASE: from } });
  }

  /** The task's own image if it is here, else one with its commit out of a local clone. */
  async #repository(source: RepositorySource, signal: AbortSignal) {
    const { image, repo, commit, node } = source;
    const name = image && (await this.#mapped(image, signal));
    const facts = name ? await this.options.engine.image(name) : undefined;
    if (name && facts) return { ...facts, name };
    const mirror = this.options.repos && mirrorOf(this.options.repos, repo);
    if (!mirror) {
      const missing = image
        ? `The image ${image} is not on this engine`
        : 'The instance names no image';
      const how = this.options.repos
        ? `${this.options.repos} has no clone of ${repo}.`
        : `no folder with a clone of ${repo} was named (--repos).`;
      throw new AppError('invalid_input', `${missing}, and ${how}`);
    }
    if (!node)
      throw new AppError(
        'invalid_input',
        `Its clone alone does not make an image of ${repo}: the task names no node_version to install with.`,
      );
    const base = await this.ensure({ kind: 'toolchain', name: 'base' }, signal);
    const tag = `belay/evaluation-repository:${hashOf(repo, commit, node, base.name, repositoryImage(node)).slice(0, 16)}`;
    const known = await this.options.engine.image(tag);
    if (known) return { ...known, name: tag };
    const repository = await commitOf(mirror, commit, signal);
    const files = [
      ...repositoryImage(node),
      ...repository.map((entry) => ({ ...entry, path: `repository/${entry.path}` })),
    ];
    return this.#built(tag, files, { signal, args: { BASE: base.name } });
  }

  async #built(
    tag: string,
    files: Entry[],
    options: { signal: AbortSignal; args?: Record<string, string> },
  ) {
    if (!(await this.options.engine.image(tag)))
      await this.options.engine.build(tag, files, options);
    const facts = await this.options.engine.image(tag);
    if (!facts) throw new AppError('unavailable', `The image ${tag} vanished after its build.`);
    return { ...facts, name: tag };
  }

  async #sandboxName(): Promise<string | undefined> {
    return this.options.sandbox ?? this.options.engine.newest('belay/sandbox');
  }

  async #sandbox(): Promise<string> {
    const name = await this.#sandboxName();
    if (name) return name;
    throw new AppError(
      'unavailable',
      'Belay’s sandbox image is not on this engine: run `npm start` once, or name an image with --base-image.',
    );
  }

  async #mapped(name: string, signal: AbortSignal): Promise<string> {
    if (await this.options.engine.image(name)) return name;
    const found = this.options.fromMap.find(([pattern]) => matches(pattern, name));
    if (!found) return name;
    if (found[1] !== '@base') return found[1];
    return (await this.ensure({ kind: 'toolchain', name: 'base' }, signal)).name;
  }

  async #localDockerfile(files: Entry[], signal: AbortSignal): Promise<Entry[]> {
    const dockerfile = files.find(({ path }) => path === 'Dockerfile');
    if (!dockerfile) throw new AppError('invalid_input', 'The task has no Dockerfile.');
    const text = await withLocalImages(dockerfile.bytes.toString(), (name) =>
      this.#mapped(name, signal),
    );
    return [...files.filter((entry) => entry !== dockerfile), file('Dockerfile', text)];
  }
}

/** The images that a source names. */
async function namesIn(source: Exclude<ImageSource, { kind: 'toolchain' }>): Promise<string[]> {
  if (source.kind === 'image') return [source.name];
  if (source.kind === 'repository') return source.image ? [source.image] : [];
  const dockerfile = source.files.find(({ path }) => path === 'Dockerfile');
  const names: string[] = [];
  await withLocalImages(dockerfile?.bytes.toString() ?? '', async (name) => {
    names.push(name);
    return name;
  });
  return names;
}

export function matches(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[^\w/:-]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(name);
}
