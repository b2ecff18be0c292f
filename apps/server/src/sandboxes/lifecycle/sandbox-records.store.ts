import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Config } from '../../config.js';
import { writeWhole } from '../../storage/write-whole.js';

const ofOneMachine = z.object({
  session: z.string(),
  /** The session’s current or last sandbox. */
  sandbox: z.string(),
  /** The name of its files: the first sandbox of the session that had them. */
  files: z.string(),
  epoch: z.int().nonnegative(),
  /** Whether the files are worth keeping: false until the first agent has begun. */
  begun: z.boolean(),
  /** The hash of the agent’s id, so that after a restart of the server no other program can take its place. */
  agent: z.string().optional(),
  /** The joined machine that has the files. */
  machine: z.string().optional(),
  /** The hash of the agent’s token on that machine, if it is bare; absent once the agent was ended. */
  token: z.string().optional(),
  /** Whether the agent on that machine was not ended yet. */
  running: z.boolean().optional(),
});
const fields = ofOneMachine.extend({
  /** The files that the session had on another machine, until they are removed. */
  before: ofOneMachine.optional(),
});
export type SandboxRecord = z.infer<typeof fields>;

/** Records of earlier versions name two volumes, which are still called so. */
const earlier = z.looseObject({ volumes: z.object({ workspace: z.string() }) });
const record = z.preprocess((stored) => {
  const { data } = earlier.safeParse(stored);
  return data
    ? { ...data, files: data.volumes.workspace.replace(/^belay-|-workspace$/g, '') }
    : stored;
}, fields);

/**
 * Which sandbox belongs to which session: one file for each, in the data folder. Container labels cannot record this,
 * because a warm container is made before its session.
 */
@Injectable()
export class SandboxRecords {
  readonly #folder: string;

  constructor(config: Config) {
    this.#folder = join(config.data, 'sandboxes');
  }

  async write(entry: SandboxRecord): Promise<void> {
    await writeWhole(this.#path(entry.session), JSON.stringify(entry));
  }

  async find(session: string): Promise<SandboxRecord | undefined> {
    const text = await readFile(this.#path(session), 'utf8').catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      },
    );
    return text === undefined ? undefined : record.safeParse(JSON.parse(text)).data;
  }

  async all(): Promise<SandboxRecord[]> {
    const files = await readdir(this.#folder).catch(() => []);
    const sessions = files
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -5));
    const found = await Promise.all(sessions.map((session) => this.find(session)));
    return found.filter((entry) => entry !== undefined);
  }

  async remove(session: string): Promise<void> {
    await rm(this.#path(session), { force: true });
  }

  #path(session: string): string {
    return join(this.#folder, `${session.replaceAll(/[^\w-]/g, '_')}.json`);
  }
}
