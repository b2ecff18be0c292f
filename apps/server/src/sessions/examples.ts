import { createReadStream } from 'node:fs';
import { lstat, readFile, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError, faultOf, type Example } from '@belay/protocol';
import { pack, type Pack } from 'tar-stream';
import { parse } from 'yaml';
import { z } from 'zod';
import { Config } from '../config.js';

/** The schema of `session.yaml` in an example’s folder. */
const description = z.object({
  title: z.string().optional(),
  task: z.string(),
  // `scripted` without a name means the script in the same folder.
  model: z.string().default('scripted'),
});

@Injectable()
export class Examples {
  readonly #folder: string | undefined;

  constructor({ examples }: Config) {
    this.#folder = examples && join(examples, 'sessions');
  }

  async list(): Promise<Example[]> {
    if (!this.#folder) return [];
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    const found = await Promise.all(
      // A malformed example fails when it is requested; the others are still listed.
      names
        .toSorted((a, b) => a.localeCompare(b))
        .map((name) => this.#read(name).catch(() => undefined)),
    );
    return found.filter((example) => example !== undefined);
  }

  /** Throws `not_found` when there is no such example, `invalid_input` when its description is wrong. */
  async find(name: string): Promise<Example> {
    const example = /^[\w-]+$/.test(name) ? await this.#read(name) : undefined;
    if (!example) throw new AppError('not_found', `There is no example ${name}.`);
    return example;
  }

  /** The example’s project folder as a tar archive; an example without a project starts with an empty workspace. */
  async pack(name: string): Promise<Readable> {
    await this.find(name);
    const archive = pack();
    const project = join(this.#folder ?? '', name, 'project');
    const read = archive.pipe(new PassThrough());
    addFolder(archive, project, '').then(
      () => archive.finalize(),
      (error: unknown) => read.destroy(error as Error),
    );
    return read;
  }

  async #read(name: string): Promise<Example | undefined> {
    if (!this.#folder) return undefined;
    const folder = this.#folder;
    const text = await readFile(join(folder, name, 'session.yaml'), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const { title = name, task, model } = described(name, text);
    const named = model === 'scripted' ? `scripted:example:${name}` : model;
    return { name, title, task, model: named };
  }
}

function described(name: string, text: string): z.output<typeof description> {
  const unreadable = (why: string) =>
    new AppError('invalid_input', `The example ${name} has an invalid session.yaml: ${why}.`);
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw unreadable(String((error as Error).message.split('\n')[0]).replace(/[.:]$/, ''));
  }
  const parsed = description.safeParse(content);
  if (parsed.success) return parsed.data;
  throw unreadable(faultOf(parsed.error));
}

async function addFolder(archive: Pack, folder: string, prefix: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.toSorted((a, b) => a.localeCompare(b))) {
    const path = join(folder, name);
    const found = await lstat(path);
    const entry = { name: prefix + name, mode: found.mode & 0o777, mtime: found.mtime };
    if (found.isSymbolicLink()) {
      archive.entry({ ...entry, type: 'symlink', linkname: await readlink(path) });
    } else if (found.isDirectory()) {
      archive.entry({ ...entry, type: 'directory' });
      await addFolder(archive, path, `${prefix}${name}/`);
    } else if (found.isFile()) {
      const { size } = await stat(path);
      await pipeline(createReadStream(path), archive.entry({ ...entry, type: 'file', size }));
    }
  }
}
