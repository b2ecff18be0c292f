import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Config } from '../config.js';

const record = z.object({
  session: z.string(),
  /** The sandbox that the session has, or had last: its volumes are named after it. */
  sandbox: z.string(),
  volumes: z.object({ workspace: z.string(), state: z.string() }),
  epoch: z.int().nonnegative(),
  /** Whether the files are worth keeping: false until the first agent has begun. */
  begun: z.boolean(),
});
export type SandboxRecord = z.infer<typeof record>;

/**
 * Which sandbox belongs to which session: a file for each, in the data folder. A container's labels cannot say
 * it, for a warm one is made before its session.
 */
@Injectable()
export class SandboxRecords {
  private readonly folder: string;

  constructor(config: Config) {
    this.folder = join(config.data, 'sandboxes');
  }

  async write(entry: SandboxRecord): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = this.path(entry.session);
    await writeFile(`${path}.part`, JSON.stringify(entry), { mode: 0o600 });
    await rename(`${path}.part`, path);
  }

  async find(session: string): Promise<SandboxRecord | undefined> {
    const text = await readFile(this.path(session), 'utf8').catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      },
    );
    return text === undefined ? undefined : record.safeParse(JSON.parse(text)).data;
  }

  async all(): Promise<SandboxRecord[]> {
    const files = await readdir(this.folder).catch(() => []);
    const sessions = files
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -5));
    const found = await Promise.all(sessions.map((session) => this.find(session)));
    return found.filter((entry) => entry !== undefined);
  }

  async remove(session: string): Promise<void> {
    await rm(this.path(session), { force: true });
  }

  private path(session: string): string {
    return join(this.folder, `${session.replaceAll(/[^\w-]/g, '_')}.json`);
  }
}
