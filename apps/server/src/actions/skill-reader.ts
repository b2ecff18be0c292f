import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { AppError, type ActionOutput, type SessionAction } from '@belay/protocol';
import { BlobStore } from '../logs/blob-store.js';
import { filesOfTar, actionTar, type ActionFile } from './action-files.js';
import { versionsOf } from './action-record.js';
import { ActionStore } from './action.store.js';
import { fileOf } from './find-actions.js';

/** The limit of one file that a model reads; it reads larger ones in the sandbox, in pieces. */
const longestFile = 64_000;
const instructions = 'SKILL.md';

interface Reading {
  action: Pick<SessionAction, 'name' | 'image'>;
  input: Record<string, unknown>;
  session: string | null;
}

/** Provides a skill’s instructions, and its files for a session. Nothing in them runs here. */
@Injectable()
export class SkillReader {
  constructor(
    private readonly store: ActionStore,
    private readonly blobs: BlobStore,
  ) {}

  /** Throws `not_found` for a removed version or a missing file, `invalid_input`, `too_large`. */
  async read({ action, input, session }: Reading): Promise<ActionOutput> {
    const files = await this.#filesOf(action);
    const { file = instructions } = input;
    const wanted = typeof file === 'string' ? fileOf(files, file) : undefined;
    if (!wanted)
      throw new AppError(
        'not_found',
        `The skill ${action.name} has no such file: it has ${namesOf(files)}.`,
      );
    const text = textOf(wanted);
    const output = { errors: '', exitCode: 0, seconds: 0, images: [], audio: [], files: [] };
    const others = files.filter(({ path }) => path !== instructions);
    if (wanted.path !== instructions || others.length === 0) return { text, ...output };
    const list = others.map(({ path, executable, content }) => {
      const kind = executable ? ', a program' : '';
      return `- ${path} (${content.length} bytes${kind})`;
    });
    const whole = `${text.trimEnd()}\n\nThe files of this skill:\n${list.join('\n')}`;
    if (session === null) return { text: whole, ...output };
    const tar = await actionTar(files, action.name, { readOnly: true });
    const archive = await this.blobs.putOf(session, tar, 'application/x-tar');
    return { text: whole, ...output, archive };
  }

  async #filesOf({ name, image: digest }: Reading['action']): Promise<ActionFile[]> {
    const version = versionsOf(this.store.known(name)).find((one) => one.digest === digest);
    if (!version)
      throw new AppError(
        'not_found',
        `The version of the skill ${name} that this session began with is gone. Start a new session to use it as it is now.`,
      );
    const files = await filesOfTar(await readFile(this.store.archiveOf(digest)));
    return files.map((file) => ({ ...file, path: file.path.replace(/^action\//, '') }));
  }
}

function textOf({ path, content }: ActionFile): string {
  if (content.length > longestFile)
    throw new AppError(
      'too_large',
      `${path} is too large to be read here. Read it in the sandbox.`,
    );
  if (isUtf8(content)) return content.toString('utf8');
  throw new AppError('invalid_input', `${path} is not text: use it in the sandbox.`);
}

const namesOf = (files: readonly ActionFile[]): string =>
  files
    .map(({ path }) => path)
    .slice(0, 50)
    .join(', ');
