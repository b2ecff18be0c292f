import {
  withLocalImages,
  type BuildOptions,
  type FoundImage,
  type TaskEngine,
} from '@belay/containers';
import { AppError } from '@belay/protocol';
import { fileEntry, contentHash, type Entry } from '../entries.js';
import {
  Unsupported,
  type ImageSource,
  type TaskRepository,
  type ToolchainName,
} from '../model.js';
import { commitOf, fileAtCommit, hasCommit, mirrorOf } from './mirror.js';
import { buildRequirements, pythonRepositoryImage } from './python-repository-image.js';
import { repositoryImage } from './repository-image.js';
import { toolchain } from './toolchains.js';
import { buildImage, createTask } from './task-files.js';

/**
 * Patterns with `*` for image names, and the local images that replace them; `@base` is the helper
 * image.
 */
export type FromMap = [pattern: string, image: string][];

export const defaultFromMap: FromMap = [
  ['ubuntu:*', '@base'],
  ['debian:*', '@base'],
  ['python:*', '@base'],
  ['*/t-bench/*', '@base'],
];

export interface ImagesOptions {
  engine: TaskEngine;
  /**
   * The platform's sandbox image, on which helper images are based; null for the newest one on the
   * engine.
   */
  sandbox: string | null;
  fromMap: FromMap;
  /** A folder with clones of repositories, for tasks whose image is missing. */
  repos?: string | null;
  /** `none` builds Dockerfiles of tasks without a network. */
  buildNetwork?: 'default' | 'none';
}

/**
 * Provides task images: named ones, ones built from a task's Dockerfile or repository, and the
 * helper images. Each is built once.
 */
export class Images {
  readonly #making = new Map<string, Promise<FoundImage & { name: string }>>();

  constructor(private readonly options: ImagesOptions) {}

  /**
   * Resolves to an image on the engine; rejects with `invalid_input` when it is missing or cannot
   * be built.
   */
  ensure(source: ImageSource, signal: AbortSignal): Promise<FoundImage & { name: string }> {
    const key = contentHash(source);
    let made = this.#making.get(key);
    if (!made) {
      made = this.#make(source, key, signal);
      this.#making.set(key, made);
      // A build that failed or was interrupted is retried by the next trial.
      made.catch(() => this.#making.delete(key));
    }
    return made;
  }

  /**
   * Identifies the sources of an image without building it: different stamps mean different images.
   */
  async stamp(source: ImageSource): Promise<string> {
    const idOf = async (name: string) => (await this.options.engine.image(name))?.id ?? null;
    const base = await (this.#baseStamp ??= this.#sandboxName().then(async (name) =>
      contentHash(name && (await idOf(name)), toolchain('base'), this.options.fromMap),
    ));
    if (source.kind === 'toolchain') return contentHash(base, toolchain(source.name));
    const ids = await Promise.all((await namesIn(source)).map(idOf));
    return contentHash(base, source, ids);
  }
  #baseStamp: Promise<string> | undefined;

  async #make(source: ImageSource, key: string, signal: AbortSignal) {
    if (source.kind === 'toolchain') return this.#toolchain(source.name, signal);
    if (source.kind === 'repository') return this.#repository(source, signal);
    if (source.kind === 'image') {
      const name = await this.#mapped(source.name, signal);
      const info = await this.options.engine.image(name);
      if (info) return { ...info, name };
      throw new AppError(
        'invalid_input',
        `The image ${name} is not on this engine: pull it, or name one that is with --from-map ${name}=IMAGE.`,
      );
    }
    const { published } = source;
    const info = published ? await this.options.engine.image(published) : undefined;
    if (info && published) return { ...info, name: published };
    const files = await this.#localDockerfile(source, signal);
    return this.#built(`belay/evaluation-task:${contentHash(key, files).slice(0, 16)}`, files, {
      signal,
      args: source.args,
      target: source.target,
      offline: this.options.buildNetwork === 'none',
    });
  }

  async #toolchain(
    name: ToolchainName,
    signal: AbortSignal,
  ): Promise<FoundImage & { name: string }> {
    const files = toolchain(name);
    const from =
      name === 'base'
        ? await this.#sandbox()
        : (await this.ensure({ kind: 'toolchain', name: 'base' }, signal)).name;
    const tag = `belay/evaluation-${name}:${contentHash(files, from).slice(0, 16)}`;
    return this.#built(tag, files, { signal, args: { BASE: from } });
  }

  /**
   * Why an image is not available here, in one sentence; null if it is, or if only a build can
   * tell.
   */
  async refusal(source: ImageSource, signal: AbortSignal): Promise<string | null> {
    if (source.kind !== 'repository' || (await this.#own(source, signal))) return null;
    const { image, repo, commit, node, python, needs } = source;
    // A classic instance has `needs` and often no image; then SWE-Bench's published one is used.
    const missing =
      needs !== undefined
        ? 'Its image is not on this engine'
        : image
          ? `The image ${image} is not on this engine`
          : 'The instance names no image';
    const { repos } = this.options;
    const mirror = repos ? mirrorOf(repos, repo) : undefined;
    if (needs) return `${missing}, and ${repo} needs ${needs}, which is not built here.`;
    if (!repos)
      return `${missing}, and no folder with a clone of ${repo} was given. Name one with --repos.`;
    if (!mirror) return `${missing}, and ${repos} has no clone of ${repo}.`;
    if (!(await hasCommit(mirror, commit, signal)))
      return `The clone ${mirror} does not have the commit ${commit}. Fetch it there.`;
    if (python && !(await this.#python(python.python, signal)))
      return `${repo} needs Python ${python.python} here: pull python:${python.python}, or name an image that has it with --from-map python:${python.python}=IMAGE.`;
    if (python || node) return null;
    return `No image of ${repo} can be built from its clone: the task names no node_version to install with.`;
  }

  /** The task's own image, if it exists here. */
  async #own({ image }: TaskRepository, signal: AbortSignal) {
    const name = image && (await this.#mapped(image, signal));
    const info = name ? await this.options.engine.image(name) : undefined;
    return name && info ? { ...info, name } : undefined;
  }

  /**
   * An image with this version of Python: `python:3.9`, its replacement in `fromMap`, or the helper
   * image if it has that version.
   */
  async #python(version: string, signal: AbortSignal): Promise<string | null> {
    const wanted = `python:${version}`;
    if (await this.options.engine.image(wanted)) return wanted;
    const [, mapped] =
      this.options.fromMap.find(([pattern]) => matchesImage(pattern, wanted)) ?? [];
    if (mapped !== undefined && mapped !== '@base')
      return (await this.options.engine.image(mapped)) ? mapped : null;
    const { name } = await this.ensure({ kind: 'toolchain', name: 'base' }, signal);
    this.#basePython ??= pythonOf(this.options.engine, name, signal);
    return (await this.#basePython) === version ? name : null;
  }
  #basePython: Promise<string> | undefined;

  /** The task's own image if it exists here, otherwise one with the commit from a local clone. */
  async #repository(source: TaskRepository, signal: AbortSignal) {
    const own = await this.#own(source, signal);
    if (own) return own;
    const refused = await this.refusal(source, signal);
    if (refused) throw new Unsupported(refused);
    const { repo, commit, node, python } = source;
    const mirror = mirrorOf(this.options.repos ?? '', repo) ?? '';
    const base = await this.ensure({ kind: 'toolchain', name: 'base' }, signal);
    const from = python ? ((await this.#python(python.python, signal)) ?? base.name) : base.name;
    const recipe = python
      ? pythonRepositoryImage(python, await buildRequires(mirror, commit, signal))
      : repositoryImage(node ?? '');
    const tag = `belay/evaluation-repository:${contentHash(repo, commit, from, base.name, recipe).slice(0, 16)}`;
    const known = await this.options.engine.image(tag);
    if (known) return { ...known, name: tag };
    const repository = await commitOf(mirror, commit, signal);
    const files = [
      ...recipe,
      ...repository.map((entry) => ({ ...entry, path: `repository/${entry.path}` })),
    ];
    const args = { BASE: from, ...(python && { SETTINGS: base.name }) };
    return this.#built(tag, files, { signal, args });
  }

  async #built(tag: string, files: Entry[], options: BuildOptions) {
    if (!(await this.options.engine.image(tag)))
      await buildImage(this.options.engine, tag, { files, ...options });
    const info = await this.options.engine.image(tag);
    if (!info)
      throw new AppError(
        'unavailable',
        `The image ${tag} was removed after its build. Run the evaluation again.`,
      );
    return { ...info, name: tag };
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
    const found = this.options.fromMap.find(([pattern]) => matchesImage(pattern, name));
    if (!found) return name;
    if (found[1] !== '@base') return found[1];
    return (await this.ensure({ kind: 'toolchain', name: 'base' }, signal)).name;
  }

  async #localDockerfile({ files, args }: Built, signal: AbortSignal): Promise<Entry[]> {
    const dockerfile = files.find(({ path }) => path === 'Dockerfile');
    if (!dockerfile) throw new AppError('invalid_input', 'The task has no Dockerfile.');
    const local = (name: string) => this.#mapped(name, signal);
    const text = await withLocalImages(dockerfile.bytes.toString(), local, args);
    return [...files.filter((entry) => entry !== dockerfile), fileEntry('Dockerfile', text)];
  }
}

type Built = Extract<ImageSource, { kind: 'build' }>;

const buildRequires = async (mirror: string, commit: string, signal: AbortSignal) =>
  buildRequirements(await fileAtCommit(mirror, { commit, path: 'pyproject.toml', signal }));

/** The version of Python in an image, such as `3.11`. */
async function pythonOf(engine: TaskEngine, image: string, signal: AbortSignal): Promise<string> {
  const container = await createTask(engine, {
    run: 'images',
    image,
    command: ['python3', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
    user: null,
    workdir: '/',
    env: {},
    cpus: 1,
    memoryMb: 256,
    network: 'none',
    files: [],
  });
  try {
    await container.run(60, signal);
    return (await container.output()).trim();
  } finally {
    engine.discard(container);
  }
}

/** The images that a source names. */
async function namesIn(source: Exclude<ImageSource, { kind: 'toolchain' }>): Promise<string[]> {
  if (source.kind === 'image') return [source.name];
  if (source.kind === 'repository') {
    const { image, python } = source;
    return [...(image ? [image] : []), ...(python ? [`python:${python.python}`] : [])];
  }
  const dockerfile = source.files.find(({ path }) => path === 'Dockerfile');
  const names = source.published ? [source.published] : [];
  const noted = async (name: string) => {
    names.push(name);
    return name;
  };
  await withLocalImages(dockerfile?.bytes.toString() ?? '', noted, source.args);
  return names;
}

export function matchesImage(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[^\w/:-]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(name);
}
