import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Semaphore } from 'async-mutex';
import { z } from 'zod';
import { ObjectStore } from '../../storage/object-store.js';

const ofOneMachine = z.object({
  session: z.string(),
  /** The session’s current or last sandbox. */
  sandbox: z.string(),
  /** The name of its files: the first sandbox of the session that had them. */
  files: z.string(),
  epoch: z.int().nonnegative(),
  /** Whether the files are worth keeping. Earlier versions also recorded starts that had not got so far. */
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
  /** The files that the session had on another machine or a lost node, until they are removed. */
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

const folder = 'sandboxes';
/** There may be thousands to list, and each one that is read takes a file or a connection. */
const parallelReads = 16;

/**
 * Which sandbox belongs to which session: one file for each, where files are stored. Container labels cannot record this,
 * because a warm container is made before its session.
 */
@Injectable()
export class SandboxRecords {
  readonly #reads = new Semaphore(parallelReads);

  constructor(private readonly objects: ObjectStore) {}

  async write(entry: SandboxRecord): Promise<void> {
    await this.objects.put(keyOf(entry.session), Buffer.from(JSON.stringify(entry)));
  }

  async find(session: string): Promise<SandboxRecord | undefined> {
    return this.#read(keyOf(session));
  }

  async all(): Promise<SandboxRecord[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(folder))
      if (key.endsWith('.json')) keys.push(key);
    const found = await Promise.all(
      keys.map((key) => this.#reads.runExclusive(() => this.#read(key))),
    );
    return found.filter((entry) => entry !== undefined);
  }

  async remove(session: string): Promise<void> {
    await this.objects.remove(keyOf(session));
  }

  async #read(key: string): Promise<SandboxRecord | undefined> {
    const object = await this.objects.open(key);
    return object && parsed(await text(object.content));
  }
}

/** Undefined for a record that cannot be read, such as one that a loss of power has cut off. */
function parsed(content: string): SandboxRecord | undefined {
  try {
    return record.safeParse(JSON.parse(content)).data;
  } catch {
    return undefined;
  }
}

const keyOf = (session: string): string => `${folder}/${session.replaceAll(/[^\w-]/g, '_')}.json`;
