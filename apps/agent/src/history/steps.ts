import { isUtf8 } from 'node:buffer';
import {
  AppError,
  totalOfChange,
  type OperationInput,
  type OperationOutput,
  type workspaceOperations,
} from '@belay/protocol';
import { changeArguments, parseChanges } from './parse-changes.js';
import type { Git } from './git.js';
import { callTrailer } from './recorder.js';
import { baseRef, branch } from './repository.js';

type Operations = typeof workspaceOperations;
type Input<K extends keyof Operations> = OperationInput<K>;
type Output<K extends keyof Operations> = OperationOutput<K>;

const maxDiff = 1_000_000;
const maxShown = 5_000_000;
const maxFiles = 5_000;

/** Queries about the history. */
export class Steps {
  readonly #git: Git;
  constructor(git: Git) {
    this.#git = git;
  }

  async log({ limit }: Input<'workspace.log'>): Promise<Output<'workspace.log'>> {
    const format = '--format=%H%n%cI%n%B';
    const output = await this.#git.run(['log', '-z', `--max-count=${limit}`, format, branch]);
    return { steps: output.split('\0').filter(Boolean).map(stepOf) };
  }

  async diff(
    input: Input<'workspace.diff'>,
    signal: AbortSignal,
  ): Promise<Output<'workspace.diff'>> {
    const from = await this.find(input.from ?? baseRef);
    const to = await this.find(input.to ?? branch);
    const path = input.path === undefined ? [] : ['--', pathBelow(input.path)];
    const range = ['--find-renames', '--no-ext-diff', '--no-textconv', from, to, ...path];
    const [text, changes] = await Promise.all([
      this.#git.output(['diff', ...range], { limit: maxDiff, signal }),
      this.#git.run(['diff', ...changeArguments, ...range], { signal }),
    ]);
    const files = parseChanges(changes);
    return {
      diff: wholeLines(text.output.toString('utf8'), text.truncated),
      truncated: text.truncated || files.length > maxFiles,
      files: files.slice(0, maxFiles),
      ...(files.length > maxFiles && { total: totalOfChange({ files }) }),
    };
  }

  async show(input: Input<'workspace.show'>): Promise<Output<'workspace.show'>> {
    const commit = await this.find(input.commit);
    const path = pathBelow(input.path);
    const listed = await this.#git.run(['ls-tree', '-z', '--long', commit, '--', path]);
    const [, id, size] = /^\d+ blob (\w+) +(\d+)\t/.exec(listed) ?? [];
    if (id === undefined) {
      throw new AppError('not_found', `${input.path} is not a file of commit ${input.commit}.`);
    }
    if (Number(size) > maxShown) {
      throw new AppError(
        'too_large',
        `${input.path} has ${size} bytes; export the workspace to read it.`,
      );
    }
    const { output } = await this.#git.output(['cat-file', 'blob', id]);
    const text = isUtf8(output) && !output.includes(0);
    return {
      content: output.toString(text ? 'utf8' : 'base64'),
      encoding: text ? 'utf8' : 'base64',
    };
  }

  /** The full id of a commit in the history, given by its id or a ref. */
  async find(name: string): Promise<string> {
    const id = await this.#git
      .run(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
      .catch(() => '');
    if (id !== '') return id.trim();
    throw new AppError(
      'not_found',
      `The history has no commit ${name}. Old steps are removed when the history grows too large.`,
    );
  }
}

function stepOf(record: string): Output<'workspace.log'>['steps'][number] {
  const [commit = '', time = '', ...rest] = record.split('\n');
  const body = rest.join('\n').trim();
  const at = body.lastIndexOf(callTrailer);
  const message = at < 0 ? body : body.slice(0, at).trim();
  return { commit, time, call: at < 0 ? '' : body.slice(at + callTrailer.length).trim(), message };
}

const wholeLines = (text: string, truncated: boolean): string =>
  truncated ? text.slice(0, text.lastIndexOf('\n') + 1) : text;

function pathBelow(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts.includes('..') || path.includes('\0') || parts.length === 0) {
    throw new AppError('invalid_input', `${path} is not a path below the workspace.`);
  }
  return parts.join('/');
}
