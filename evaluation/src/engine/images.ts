import { AppError } from '@belay/protocol';
import { file, hashOf, type Entry } from '../entries.js';
import type { ImageSource, ToolchainName } from '../model.js';
import type { Engine, ImageFacts } from './engine.js';
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

  async #make(source: ImageSource, key: string, signal: AbortSignal) {
    if (source.kind === 'toolchain') return this.#toolchain(source.name, signal);
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

  async #sandbox(): Promise<string> {
    const name = this.options.sandbox ?? (await this.options.engine.newest('belay/sandbox'));
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

  /** FROM lines of images that are here or mapped; `COPY --chmod`, which the classic builder refuses. */
  async #localDockerfile(files: Entry[], signal: AbortSignal): Promise<Entry[]> {
    const dockerfile = files.find(({ path }) => path === 'Dockerfile');
    if (!dockerfile) throw new AppError('invalid_input', 'The task has no environment/Dockerfile.');
    const stages = new Set<string>();
    const lines: string[] = [];
    for (const line of dockerfile.bytes.toString().split('\n')) {
      const [, name, rest = ''] = /^FROM\s+(?:--\S+\s+)*(\S+)(.*)$/i.exec(line) ?? [];
      if (!name) lines.push(...withoutChmod(line));
      else {
        lines.push(`FROM ${stages.has(name) ? name : await this.#mapped(name, signal)}${rest}`);
        const stage = /\sAS\s+(\S+)/i.exec(rest)?.[1];
        if (stage) stages.add(stage);
      }
    }
    const others = files.filter((entry) => entry !== dockerfile);
    return [...others, file('Dockerfile', lines.join('\n'))];
  }
}

/** `COPY --chmod=755 a /b` becomes `COPY a /b` and `RUN chmod 755 /b`, for one source that is a file. */
export function withoutChmod(line: string): string[] {
  const [, verb, mode, rest = ''] = /^(COPY|ADD)\s+--chmod=(\S+)\s+(.*)$/i.exec(line) ?? [];
  if (!verb || !mode) return [line];
  const words = rest
    .trim()
    .split(/\s+/)
    .filter((word) => !word.startsWith('--'));
  const target = words.at(-1) ?? '';
  const targets = target.endsWith('/')
    ? words.slice(0, -1).map((source) => `${target}${source.split('/').at(-1)}`)
    : [target];
  return [`${verb} ${rest}`, `RUN chmod ${mode} ${targets.join(' ')}`];
}

export function matches(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[^\w/:-]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(name);
}
