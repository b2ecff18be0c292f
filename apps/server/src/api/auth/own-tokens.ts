import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { api, ignoreError } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../../config.js';
import { storageError } from '../../storage/database.js';
import type { Document } from '../../storage/document.js';
import { Documents } from '../../storage/documents.js';
import { lease } from '../../storage/lease.js';
import type { OnLead } from '../../storage/on-lead.js';
import { writeWholeSync } from '../../storage/write-whole.js';

const saved = z.object({ token: z.string().min(20), viewerToken: z.string().min(20) });
type Saved = z.output<typeof saved>;
const announced = z.object({ url: z.url() });

/**
 * The two tokens of the servers of a database: a document, made at the first start or taken over from the file
 * `server.json` of an earlier version. A server that leads writes them to that file, which only its user can read, with the
 * address at which the command line finds it; so does one that stands by, unless another one is there.
 */
@Injectable()
export class OwnTokens implements OnModuleInit, OnLead {
  /** How long a server may take to show that it is still where it was announced. Tests wait for as long as it takes. */
  respondMs = 2_000;
  readonly #document: Document<z.ZodNullable<typeof saved>>;
  readonly #file: string;
  /** Until they are stored. */
  readonly #first: Saved;
  #announced: { url?: string; pid?: number } = {};

  constructor(config: Config, documents: Documents) {
    this.#file = join(config.data, 'server.json');
    this.#document = documents.open('own-tokens', saved.nullable(), null);
    this.#first = readSaved(this.#file) ?? { token: newOwnToken(), viewerToken: newOwnToken() };
    this.#document.onRead(() => {
      const { url } = this.#announced;
      if (lease.isHeld || (url && url === readAnnounced(this.#file))) this.#save(this.value);
    });
  }

  async onModuleInit(): Promise<void> {
    if (!this.#document.value) await this.#document.change((stored) => stored ?? this.#first);
  }

  /** Servers that stand by may have the same data folder. */
  onLead(): void {
    this.#save(this.value);
  }

  get value(): Saved {
    return this.#document.value ?? this.#first;
  }

  /** Writes the address at which the command line finds the server. */
  announce(url: string): void {
    this.#announced = { url, pid: process.pid };
    this.#save(this.value);
  }

  /**
   * Writes the address at which this server passes connections on to the one that leads, unless another server of the same
   * data folder is announced there, and responds.
   */
  async announceStandBy(url: string): Promise<void> {
    const there = readAnnounced(this.#file);
    if (there === undefined || there === url || !(await responds(there, this.respondMs)))
      this.announce(url);
  }

  /** Throws `disk_full`, and then has changed nothing. */
  async change(change: Partial<Saved>): Promise<void> {
    const before = this.value;
    try {
      this.#save({ ...before, ...change });
      await this.#document.change((stored) => ({ ...(stored ?? before), ...change }));
    } catch (error) {
      this.#save(before);
      throw storageError(error);
    }
  }

  /** Calls the listener with the former tokens whenever another server has changed them. */
  onRead(listener: (before: Saved) => void): void {
    this.#document.onRead((before) => listener(before ?? this.#first));
  }

  #save(tokens: Saved): void {
    const content = { ...this.#announced, ...tokens };
    writeWholeSync(this.#file, `${JSON.stringify(content, null, 2)}\n`);
  }
}

export const newOwnToken = (): string => randomBytes(24).toString('base64url');

const readSaved = (file: string): Saved | undefined => readAs(saved, file);

const readAnnounced = (file: string): string | undefined => readAs(announced, file)?.url;

/** Whether a server is at this address: another program may have the port that it had. */
async function responds(url: string, withinMs: number): Promise<boolean> {
  const { path, response } = api.monitoring.live;
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(new URL(path, url), { signal, redirect: 'error' })
    .then((answered) => answered.json())
    .catch(ignoreError('no server responds there'));
  return response.safeParse(answer).success;
}

function readAs<T extends z.ZodType>(schema: T, file: string): z.output<T> | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    // The file is missing, or was truncated by a full disk: new tokens are created.
    return undefined;
  }
}
