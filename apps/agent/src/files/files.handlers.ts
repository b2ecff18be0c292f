import { mkdir, rename } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  AppError,
  type filesOperations,
  type Handlers,
  type OperationInput,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { Journal } from '../journal.js';
import { changedRegion, codeEvent } from './code-event.js';
import { errorNumber, throwIfAborted } from './fault.js';
import { load, replaceFile, statOf, withExecutable, type Loaded } from './file-bytes.js';
import { editLines } from './lines.js';
import { listFiles } from './list.js';
import { patchFiles } from './patch/patch-files.js';
import { readFile } from './read-file.js';
import { removeTree } from './remove-tree.js';
import { replaceText } from './replace-text.js';
import { searchFiles } from './search.js';
import { countLines, isBinary, requireFaithful, requireText } from './text.js';
import { createTurns } from './turns.js';
import { WorkspaceFolder, type Place } from './workspace-folder.js';

export interface FilesOptions {
  /** Folder that no operation leaves. */
  workspace: string;
  journal: Journal;
  /** Path of ripgrep; the runtime's or the PATH's when left out, null for none. */
  rg?: string | null;
}

type Operations = typeof filesOperations;
type Input<K extends keyof Operations> = OperationInput<Operations[K]>;

/** The file operations. Changes run one after the other; errors are `AppError`s that name the path as given. */
export function createFiles(options: FilesOptions): Handlers<Operations, CallContext> {
  return new Files(options).handlers();
}

class Files {
  private readonly workspace: WorkspaceFolder;
  private readonly inTurn = createTurns();
  private readonly rg: string | null;

  constructor(private readonly options: FilesOptions) {
    this.workspace = new WorkspaceFolder(options.workspace);
    this.rg = options.rg === undefined ? findRipgrep() : options.rg;
  }

  handlers(): Handlers<Operations, CallContext> {
    const { workspace, rg } = this;
    return {
      'files.list': (input, { signal }) => listFiles(workspace, input, signal),
      'files.read': (input, { signal }) =>
        workspace.reach(input.path, (place) => readFile(place, input, signal)),
      'files.search': (input, { signal }) => searchFiles({ workspace, rg }, input, signal),
      'files.write': this.change((input, call) => this.write(input, call)),
      'files.edit': this.change((input, call) => this.edit(input, call)),
      'files.replace-text': this.change((input, call) => this.replaceText(input, call)),
      'files.patch': this.change((input, call) => this.patch(input, call)),
      'files.move': this.change((input) => this.move(input)),
      'files.remove': this.change((input, call) => this.remove(input, call)),
      'files.mkdir': this.change((input) => this.makeFolder(input)),
    };
  }

  /** A change waits for those before it: two edits of one file at once would lose one. */
  private change<I, O>(run: (input: I, call: CallContext) => Promise<O>) {
    return (input: I, call: CallContext): Promise<O> =>
      this.inTurn(() => {
        throwIfAborted(call.signal);
        return run(input, call);
      });
  }

  private write(input: Input<'files.write'>, call: CallContext) {
    const { path, content, encoding, executable } = input;
    const bytes = encoding === 'utf8' ? Buffer.from(content, 'utf8') : fromBase64(content);
    return this.workspace.reach(
      path,
      async (place) => {
        const before = await load(place);
        if (before && encoding === 'utf8') requireFaithful(before.bytes, content, path);
        const base = before?.mode ?? 0o644;
        const mode = executable === undefined ? before?.mode : withExecutable(base, executable);
        await replaceFile(place, bytes, mode);
        this.report(call, place, before?.bytes ?? Buffer.alloc(0), bytes);
        return { ...written(place, bytes), created: before === null };
      },
      { make: true },
    );
  }

  private edit(input: Input<'files.edit'>, call: CallContext) {
    return this.rewrite(input.path, call, ({ bytes }) => {
      requireFaithful(bytes, input.content.join('\n'), input.path);
      return editLines(bytes.toString('latin1'), input);
    });
  }

  private async replaceText(input: Input<'files.replace-text'>, call: CallContext) {
    const done = await this.rewrite(input.path, call, ({ bytes }) => {
      requireFaithful(bytes, input.replace, input.path);
      return replaceText(bytes.toString('latin1'), input);
    });
    return { ...done, replaced: input.count };
  }

  /** Replaces the bytes of a text file by what `change` makes of them. */
  private rewrite(path: string, call: CallContext, change: (before: Loaded) => string) {
    return this.workspace.reach(path, async (place) => {
      const before = await load(place);
      if (!before) throw new AppError('not_found', `${path} does not exist.`);
      requireText(before.bytes, path);
      const after = Buffer.from(change(before), 'latin1');
      await replaceFile(place, after, before.mode);
      this.report(call, place, before.bytes, after);
      return written(place, after);
    });
  }

  private async patch(input: Input<'files.patch'>, call: CallContext) {
    const { files, changes } = await patchFiles(this.workspace, input.patch, call.signal);
    for (const { path, regions } of changes) {
      for (const region of regions) this.options.journal.append(codeEvent(call.id, path, region));
    }
    return { files };
  }

  private move({ from, to }: Input<'files.move'>) {
    const { root } = this.workspace;
    return this.workspace.reach(
      from,
      async (source) => {
        requireBelow(source);
        if (!(await statOf(source))) throw new AppError('not_found', `${from} does not exist.`);
        if (`${resolve(root, to)}/`.startsWith(`${resolve(root, source.path)}/`)) {
          throw new AppError('invalid_input', `${from} cannot be moved into itself.`);
        }
        return this.workspace.reach(
          to,
          async (target) => {
            if (await statOf(target)) {
              throw new AppError(
                'conflict',
                `${to} exists already; remove it first, or choose another name.`,
              );
            }
            await rename(source.at, target.at);
            return { from: source.path, to: target.path };
          },
          { follow: false, make: true },
        );
      },
      { follow: false },
    );
  }

  private remove({ path, recursive }: Input<'files.remove'>, call: CallContext) {
    return this.workspace.reach(
      path,
      async (place) => {
        requireBelow(place);
        const text = await this.textOf(place);
        await removeTree(place, { recursive, signal: call.signal });
        if (text !== null) this.report(call, place, text, Buffer.alloc(0));
        return { path: place.path };
      },
      { follow: false },
    );
  }

  /** The bytes of a text file that goes away; null for anything else. */
  private async textOf(place: Place): Promise<Buffer | null> {
    const stats = await statOf(place);
    if (!stats?.isFile() || stats.size > 1_000_000) return null;
    const bytes = (await load(place).catch(() => null))?.bytes ?? null;
    return bytes && !isBinary(bytes) ? bytes : null;
  }

  private makeFolder({ path }: Input<'files.mkdir'>) {
    return this.workspace.reach(
      path,
      async (place) => {
        try {
          await mkdir(place.at);
          return { path: place.path, created: true };
        } catch (error) {
          const exists = errorNumber(error) === 'EEXIST' && (await statOf(place))?.isDirectory();
          if (!exists) throw error;
          return { path: place.path, created: false };
        }
      },
      { make: true },
    );
  }

  private report(call: CallContext, place: Place, before: Buffer, after: Buffer): void {
    if (before.equals(after)) return;
    const { journal } = this.options;
    if (isBinary(before) || isBinary(after)) {
      journal.append(codeEvent(call.id, place.path, null));
      return;
    }
    const region = changedRegion(before.toString('latin1'), after.toString('latin1'));
    if (region) journal.append(codeEvent(call.id, place.path, region));
  }
}

const written = (place: Place, bytes: Uint8Array) => ({
  path: place.path,
  size: bytes.byteLength,
  lines: countLines(bytes),
});

function requireBelow(place: Place): void {
  if (place.path !== '.' && !place.at.endsWith('/.')) return;
  throw new AppError('invalid_input', 'The workspace itself stays where it is.');
}

function fromBase64(content: string): Buffer {
  const text = content.replace(/\s/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new AppError('invalid_input', 'The content is not base64; nothing was written.');
  }
  return Buffer.from(text, 'base64');
}

const findRipgrep = (): string | null => ripgrepPaths.find((path) => existsSync(path)) ?? null;

/** The runtime's, then where Linux and macOS put theirs. */
const ripgrepPaths = ['/opt/belay/rg', '/usr/local/bin/rg', '/usr/bin/rg', '/opt/homebrew/bin/rg'];
