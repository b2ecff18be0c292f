import { Injectable } from '@nestjs/common';
import type { Caller } from './caller.js';

/** The longest delay of a Node timer. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Notifies open connections when their caller loses its access: its token was revoked, rotated or expired, its user
 * was changed or removed, or its login ended. Code that keeps a connection or a stream open subscribes and closes it.
 */
@Injectable()
export class CallerEnds {
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #onLoss: (() => void)[] = [];
  readonly #onLogout: ((caller: string) => Promise<void>)[] = [];
  readonly #onNewSecret: ((caller: string) => Promise<void>)[] = [];

  /** Calls the listener at most once. Returns a function that unsubscribes. */
  on(caller: Caller, listener: () => void): () => void {
    const keys = [caller.id, ...(caller.login === undefined ? [] : [loginKey(caller.login)])];
    let timer: NodeJS.Timeout | undefined;
    const off = (): void => {
      clearTimeout(timer);
      for (const key of keys) this.#remove(key, ended);
    };
    const ended = (): void => {
      off();
      listener();
    };
    const { expires } = caller;
    const wait = (): void => {
      if (expires === null) return;
      const leftMs = expires - Date.now();
      if (leftMs <= 0) return ended();
      timer = setTimeout(wait, Math.min(leftMs, maxTimerMs)).unref();
    };
    for (const key of keys) {
      const listeners = this.#listeners.get(key) ?? new Set();
      this.#listeners.set(key, listeners.add(ended));
    }
    wait();
    return off;
  }

  /** Calls the listener whenever a user was removed or may do less than before. */
  onLoss(listener: () => void): void {
    this.#onLoss.push(listener);
  }

  /** Calls the listener whenever the logins of a caller end. */
  onLogout(listener: (caller: string) => Promise<void>): void {
    this.#onLogout.push(listener);
  }

  /** Calls the listener whenever a caller has another token or password. */
  onNewSecret(listener: (caller: string) => Promise<void>): void {
    this.#onNewSecret.push(listener);
  }

  /** Ends all connections of the caller with this id. */
  end(caller: string): void {
    for (const listener of this.#listeners.get(caller) ?? []) listener();
  }

  /** Ends all connections of a user who was removed or may do less than before, and what only its earlier rights allow. */
  endRights(user: string): void {
    this.end(user);
    for (const listener of this.#onLoss) listener();
  }

  /** Ends all connections and logins of a caller: at once, also if it rejects because that cannot be stored. */
  async endLogins(caller: string): Promise<void> {
    this.end(caller);
    await allOf(this.#onLogout.map((listener) => listener(caller)));
  }

  /** Ends all that the former token or password of a caller may have given to others. */
  async endSecret(caller: string): Promise<void> {
    const ended = this.#onNewSecret.map((listener) => listener(caller));
    await allOf([...ended, this.endLogins(caller)]);
  }

  /** Ends the connections of one login. */
  endLogin(login: string): void {
    this.end(loginKey(login));
  }

  #remove(key: string, listener: () => void): void {
    const listeners = this.#listeners.get(key);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(key);
  }
}

/** Waits for all, then throws the first error. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

const loginKey = (login: string): string => `login:${login}`;
