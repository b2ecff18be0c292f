import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Injectable } from '@nestjs/common';
import { AppError, benchmarkDataEntry, type BenchmarkData } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import { EvaluationCommand } from './evaluation-command.js';
import { failureReason } from './failure-reason.js';

const maxEntries = 200;
const readTimeoutMs = 120_000;

/** An entry that a suite reads. */
export interface FoundData {
  /** Absolute, without links. */
  path: string;
  suite: string;
  tasks: number;
}

interface Entry {
  name: string;
  path: string;
}

const described = z.array(benchmarkDataEntry.omit({ name: true }));
type Description = z.infer<typeof described>[number];

/** The folder with data of benchmarks. Callers choose among its entries by name, and never give a path. */
@Injectable()
export class BenchmarkFolder {
  constructor(
    private readonly config: Config,
    private readonly command: EvaluationCommand,
  ) {}

  async list(): Promise<BenchmarkData> {
    const entries = await this.#entries();
    const descriptions = await this.#describe(entries);
    return {
      folder: this.config.benchmarks,
      entries: entries.flatMap(({ name }, at) => {
        const description = descriptions[at];
        return description ? [{ name, ...description }] : [];
      }),
    };
  }

  /** Throws `not_found` for a name that is not in the folder, and `invalid_input` for data that no suite reads. */
  async find(name: string): Promise<FoundData> {
    const entry = (await this.#entries()).find((each) => each.name === name);
    if (!entry)
      throw new AppError(
        'not_found',
        `There is no ${JSON.stringify(name)} among the benchmark data. Put it into ${this.config.benchmarks} on the server’s machine.`,
      );
    const [description] = await this.#describe([entry]);
    if (!description?.suite)
      throw new AppError('invalid_input', description?.problem ?? 'No suite reads these data.');
    return { path: entry.path, suite: description.suite, tasks: description.tasks };
  }

  /** Files and folders, but no links that lead out of the folder, and nothing hidden. */
  async #entries(): Promise<Entry[]> {
    const { benchmarks } = this.config;
    const names = await readdir(benchmarks).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new AppError(
        'unavailable',
        `The folder ${benchmarks} cannot be read (${error.code}). Make it a folder that this server’s user can read.`,
      );
    });
    const visible = names.filter((name) => !name.startsWith('.')).toSorted();
    const found = await Promise.all(visible.map((name) => entryIn(benchmarks, name)));
    return found.filter((entry) => entry !== undefined).slice(0, maxEntries);
  }

  /** What each entry contains, in their order. */
  async #describe(entries: readonly Entry[]): Promise<Description[]> {
    if (entries.length === 0) return [];
    const running = this.command.start(['data', '--json', ...entries.map(({ path }) => path)]);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      running.interrupt();
    }, readTimeoutMs);
    const end = await running.ended;
    clearTimeout(timer);
    if (isLate)
      throw new AppError(
        'unavailable',
        `The benchmark data could not be read within ${readTimeoutMs / 1_000} s. Take what is not data of a suite out of ${this.config.benchmarks}.`,
      );
    if (end.code !== 0)
      throw new AppError('unavailable', `The benchmark data cannot be read: ${failureReason(end)}`);
    return described.parse(JSON.parse(end.output));
  }
}

/** Undefined for a link that leads out of the folder or to nothing, and for anything but a file or a folder. */
async function entryIn(folder: string, name: string): Promise<Entry | undefined> {
  try {
    const [root, path] = await Promise.all([realpath(folder), realpath(join(folder, name))]);
    if (!path.startsWith(root + sep)) return undefined;
    const found = await stat(path);
    return found.isFile() || found.isDirectory() ? { name, path } : undefined;
  } catch {
    return undefined;
  }
}
