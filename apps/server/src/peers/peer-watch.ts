import { Injectable } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import { LiveServers } from '../storage/live-servers.js';

/** How soon the end of a server is noticed that has not closed its connections, in milliseconds. */
const lookMs = 1_000;

/** What is under way at another server, such as a request or its socket. */
export interface PassedOn {
  destroy(error?: Error): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Breaks off what is under way at servers that are no longer alive: the machine of one may have lost its power. */
@Injectable()
export class PeerWatch {
  readonly #passed = new Map<PassedOn, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly servers: LiveServers) {}

  /** Destroys it with `unavailable` when that server, by its id, has ended. */
  add(server: string, passed: PassedOn): void {
    this.#passed.set(passed, server);
    passed.once('close', () => this.#remove(passed));
    this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
  }

  #remove(passed: PassedOn): void {
    this.#passed.delete(passed);
    if (this.#passed.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const others = await this.servers
      .others()
      .catch(ignoreError('without its database, this server ends as well'));
    if (!others) return;
    const alive = new Set(others.map(({ id }) => id));
    for (const [passed, server] of this.#passed) if (!alive.has(server)) passed.destroy(ended());
  }
}

const ended = (): AppError =>
  new AppError(
    'unavailable',
    'The server of this session has ended. See what was done, then try again.',
  );
