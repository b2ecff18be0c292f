import { mkdir, rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  AppError,
  ignoreError,
  type FileConflict,
  type filesOperations,
  type Handlers,
  type LineHunk,
  type OperationInput,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { CallContext } from '../call-context.js';
import type { EventWriter } from '../event-writer.js';
import { isThere } from '../permissions.js';
import { changedLines, codeEvent } from './code-event.js';
import { errorNumber, throwIfAborted } from './fault.js';
import {
  load,
  loadSmall,
  replaceFile,
  statsAt,
  withExecutable,
  type Loaded,
} from './file-bytes.js';
import { keepForm } from './keep-form.js';
import { editLines } from './lines.js';
import { listFolder } from './list-folder.js';
import { locateEdit } from './locate-edit.js';
import { patchFiles } from './patch/patch-files.js';
import { readPicture } from './read-picture.js';
import { readFile } from './read-file.js';
import { removeTree } from './remove-tree.js';
import { replaceText, TextNotFound } from './replace-text.js';
import { searchFiles } from './search-files.js';
import { SeenFiles, type Compare } from './seen-files.js';
import { bytesOfBase64, isBinary, requireFaithful, requireText } from './text.js';
import { versionOf } from './version-of.js';
import { inFormOf, inUtf8 } from './utf16.js';
import { WorkspaceFolder, type WorkspacePath } from './workspace-folder.js';
import { editedFile, textFormOf, writtenFile } from './written-file.js';

export interface FilesOptions {
  /** The folder that all operations stay in. */
  workspace: string;
  writer: EventWriter;
  /** The path of ripgrep; the runtime’s or the first in PATH when omitted, null for none. */
  rg?: string | null;
  /** Stores a picture for a model; without it, pictures are treated as binary files. */
  putBlob?(type: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /**
   * Compares a file with its state when it was read; without it, a refused call reports only that something changed.
   */
  compare?: Compare;
}

type Operations = typeof filesOperations;
type Input<K extends keyof Operations> = OperationInput<K>;

/** The file operations. Changes run one at a time; errors are `AppError`s with the path as given. */
export function filesHandlers(options: FilesOptions): Handlers<Operations, CallContext> {
  return new Files(options).handlers();
}

class Files {
  readonly #options: FilesOptions;
  readonly #workspace: WorkspaceFolder;
  readonly #mutex = new Mutex();
  readonly #rg: string | null;
  readonly #seen: SeenFiles;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#seen = new SeenFiles(options.compare ?? (async () => null));
    this.#workspace = new WorkspaceFolder(options.workspace);
    this.#rg = options.rg === undefined ? findRipgrep() : options.rg;
  }

  handlers(): Handlers<Operations, CallContext> {
    const workspace = this.#workspace;
    const rg = this.#rg;
    return {
      'files.list': (input, { signal }) => listFolder(workspace, input, signal),
      'files.read': (input, call) =>
        workspace.reach(input.path, (place) => this.#read(place, input, call)),
      'files.search': (input, { source, signal }) =>
        searchFiles({ workspace, rg, identifies: source === 'agent' }, input, signal),
      'files.write': this.#change((input, call) => this.#write(input, call)),
      'files.edit': this.#change((input, call) => this.#edit(input, call)),
      'files.replace-text': this.#change((input, call) => this.#replaceText(input, call)),
      'files.patch': this.#change((input, call) => this.#patch(input, call)),
      'files.move': this.#change((input) => this.#move(input)),
      'files.remove': this.#change((input, call) => this.#remove(input, call)),
      'files.mkdir': this.#change((input) => this.#makeFolder(input)),
    };
  }

  /** Runs changes one at a time, because concurrent edits of one file would lose one. */
  #change<I, O>(run: (input: I, call: CallContext) => Promise<O>) {
    return (input: I, call: CallContext): Promise<O> =>
      this.#mutex.runExclusive(() => {
        throwIfAborted(call.signal);
        return run(input, call);
      });
  }

  async #read(place: WorkspacePath, input: Input<'files.read'>, { source, signal }: CallContext) {
    const { putBlob } = this.#options;
    // The dashboard reads a picture’s bytes and needs no stored copy.
    const isLook = source === 'agent' && input.encoding === 'utf8';
    const picture = isLook && putBlob ? await readPicture(place) : null;
    if (!picture || !putBlob) {
      const keep = (bytes: Buffer) => this.#seen.keep(bytes);
      return readFile(place, input, { signal, keep, cuts: source === 'agent' });
    }
    const { type, width, height, bytes } = picture;
    return {
      path: place.path,
      content: `[A picture, ${type}, ${width} × ${height} pixels]`,
      from: 0,
      to: 0,
      lines: 0,
      size: bytes.length,
      next: null,
      version: versionOf(bytes),
      image: await putBlob(type, bytes),
    };
  }

  #write(input: Input<'files.write'>, call: CallContext) {
    const { path, content, encoding, executable } = input;
    const given = encoding === 'utf8' ? Buffer.from(content, 'utf8') : bytesOfBase64(content);
    return this.#workspace.reach(
      path,
      async (place) => {
        const before = await load(place);
        await this.#requireWritable(place, { input, before, bytes: given, call });
        if (before && encoding === 'utf8') requireFaithful(before.bytes, content, path);
        // Models see neither byte order marks nor the kind of line ends; users write exactly what the file is to
        // contain.
        const keeps = before && encoding === 'utf8' && call.known && !input.overwrite;
        const { bytes, kept } = keeps
          ? keepForm(before.bytes, content, path)
          : { bytes: given, kept: [] };
        const base = before?.mode ?? 0o644;
        const mode = executable === undefined ? before?.mode : withExecutable(base, executable);
        await replaceFile(place, bytes, mode);
        this.#seen.keep(bytes);
        this.#report(call, place, { before: before?.bytes ?? Buffer.alloc(0), after: bytes });
        const created = before === null;
        return { ...writtenFile(place, bytes), created, ...(kept.length > 0 && { kept }) };
      },
      { make: true },
    );
  }

  /** A caller must match the version that it names; a model that names none must match what it has seen. */
  async #requireWritable(
    place: WorkspacePath,
    { input, before, bytes, call }: Writing,
  ): Promise<void> {
    const now = before ? versionOf(before.bytes) : null;
    if (input.version !== undefined) {
      if (input.version === now) return;
      const details: FileConflict = { path: place.path, version: now, shown: false };
      throw new AppError('conflict', sentenceOf(input.path, input.version, now), details);
    }
    if (!before || input.overwrite || before.bytes.equals(bytes)) return;
    await this.#seen.requireUnchanged(place, before.bytes, call.known);
    this.#seen.requireRead(place, before.bytes, call.known);
  }

  #edit(input: Input<'files.edit'>, call: CallContext) {
    return this.#rewrite(input.path, call, async (place, { bytes, text }) => {
      await this.#seen.requireUnchanged(place, bytes, call.known);
      const seen = call.known?.get(place.path);
      const file = { place, version: versionOf(bytes), text, seen };
      const edit = call.known ? locateEdit(file, input) : input;
      requireFaithful(text, input.content.join('\n'), input.path);
      const { inBytes } = textFormOf(text, input.path);
      return { ...editLines(text.toString('latin1'), edit, inBytes), more: {} };
    });
  }

  /** An exact text identifies its place, whatever else changed in the file. */
  #replaceText(input: Input<'files.replace-text'>, call: CallContext) {
    return this.#rewrite(input.path, call, async (place, { bytes, text }) => {
      requireFaithful(text, input.replace, input.path);
      const form = textFormOf(text, input.path);
      const after = replaceText(text.toString('latin1'), input, form);
      if (after instanceof TextNotFound) throw notFound(place, bytes, after);
      const meanwhile = await this.#seen.changesSince(place, bytes, call.known);
      const { replaced } = after;
      return { ...after, more: { replaced, ...(meanwhile && { meanwhile }) } };
    });
  }

  /** Replaces a text file’s bytes by the result of `change`. */
  #rewrite<M>(
    path: string,
    call: CallContext,
    change: (
      place: WorkspacePath,
      before: { bytes: Buffer; text: Buffer },
    ) => Promise<{ bytes: string; hunks: LineHunk[]; more: M }>,
  ) {
    return this.#workspace.reach(path, async (place) => {
      const before = await load(place);
      if (!before) throw new AppError('not_found', `${path} does not exist.`);
      const text = inUtf8(before.bytes);
      requireText(text, path);
      const { bytes, hunks, more } = await change(place, { bytes: before.bytes, text });
      const after = inFormOf(before.bytes, Buffer.from(bytes, 'latin1'));
      await replaceFile(place, after, before.mode);
      this.#seen.keep(after);
      this.#report(call, place, { before: before.bytes, after });
      return { ...editedFile(place, after, hunks), ...more };
    });
  }

  async #patch(input: Input<'files.patch'>, call: CallContext) {
    const { files, changes } = await patchFiles(this.#workspace, input.patch, call.signal);
    for (const { path, regions } of changes) {
      const version = files.find((file) => file.path === path)?.version;
      for (const region of regions) {
        const file = { path, version: regions.length === 1 ? version : null };
        this.#options.writer.append(codeEvent(call.id, file, region));
      }
    }
    return { files };
  }

  #move({ from, to }: Input<'files.move'>) {
    const { root } = this.#workspace;
    return this.#workspace.reach(
      from,
      async (source) => {
        requireBelow(source);
        if (!(await statsAt(source))) throw new AppError('not_found', `${from} does not exist.`);
        if (`${resolve(root, to)}/`.startsWith(`${resolve(root, source.path)}/`)) {
          throw new AppError('invalid_input', `${from} cannot be moved into itself.`);
        }
        return this.#workspace.reach(
          to,
          async (target) => {
            if (await statsAt(target)) {
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

  #remove({ path, recursive }: Input<'files.remove'>, call: CallContext) {
    return this.#workspace.reach(
      path,
      async (place) => {
        requireBelow(place);
        const text = await this.#textOf(place);
        await removeTree(place, { recursive, signal: call.signal });
        if (text !== null) this.#report(call, place, { before: text, after: null });
        return { path: place.path };
      },
      { follow: false },
    );
  }

  /** The bytes of a text file that is being removed; null for anything else. */
  async #textOf(place: WorkspacePath): Promise<Buffer | null> {
    const bytes = await loadSmall(place).catch(ignoreError('removing it reports what is wrong'));
    return bytes && !isBinary(bytes) ? bytes : null;
  }

  #makeFolder({ path }: Input<'files.mkdir'>) {
    return this.#workspace.reach(
      path,
      async (place) => {
        try {
          await mkdir(place.at);
          return { path: place.path, created: true };
        } catch (error) {
          const exists = errorNumber(error) === 'EEXIST' && (await statsAt(place))?.isDirectory();
          if (!exists) throw error;
          return { path: place.path, created: false };
        }
      },
      { make: true },
    );
  }

  /** Null for a deleted file. */
  #report(
    call: CallContext,
    { path }: WorkspacePath,
    { before, after: left }: { before: Buffer; after: Buffer | null },
  ): void {
    const after = left ?? Buffer.alloc(0);
    if (before.equals(after)) return;
    const file = { path, version: left && versionOf(left) };
    const { writer } = this.#options;
    if (isBinary(before) || isBinary(after)) {
      writer.append(codeEvent(call.id, file, null));
      return;
    }
    const region = changedLines(before.toString('latin1'), after.toString('latin1'));
    if (region) writer.append(codeEvent(call.id, file, region));
  }
}

/** The refusal to replace a text, with the lines that are near it. */
function notFound(
  { path }: WorkspacePath,
  bytes: Buffer,
  { sentence, excerpt: { text, lines } }: TextNotFound,
): AppError {
  const details: FileConflict = { path, version: versionOf(bytes), shown: false, lines };
  return new AppError('conflict', text === '' ? sentence : `${sentence}\n${text}`, details);
}

interface Writing {
  input: Input<'files.write'>;
  before: Loaded | null;
  bytes: Buffer;
  call: CallContext;
}

function sentenceOf(path: string, expected: string | null, now: string | null): string {
  if (now === null) return `${path} is gone: nothing was written. Write it without a version.`;
  if (expected === null) return `${path} exists already: nothing was written. Choose another name.`;
  return `${path} changed since it was read: nothing was written. Read it again, and write over the version that it has then.`;
}

function requireBelow(place: WorkspacePath): void {
  if (place.path !== '.' && !place.at.endsWith('/.')) return;
  throw new AppError('invalid_input', 'The workspace itself cannot be moved or removed.');
}

const findRipgrep = (): string | null => ripgrepPaths.find(isThere) ?? null;

/** The runtime’s, then where Linux and macOS put theirs. */
const ripgrepPaths = ['/opt/belay/rg', '/usr/local/bin/rg', '/usr/bin/rg', '/opt/homebrew/bin/rg'];
