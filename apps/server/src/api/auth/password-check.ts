import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { UsersStore } from '../../access/users.store.js';
import { LoginAttempts } from './login-attempts.js';

/** Failures allowed for one name per minute, from all addresses together that it has not logged in from. */
const perName = 60;
/** Checks of one address at the same time; the others have to find a place in the queue of all hashes. */
const maxAtOnce = 10;

/** The same message for an unknown name. */
export const wrongPassword = 'The name or the password is wrong.';

/**
 * Checks names with their passwords for the log-in page and for password changes; both count failures together. They
 * count for a name at an address, so that guesses at one name do not lock out another, nor those of strangers a user
 * at an address where the password was right before.
 */
@Injectable()
export class PasswordCheck {
  readonly #pairs = new LoginAttempts();
  readonly #names = new LoginAttempts(undefined, perName);
  readonly #running = new Map<string, number>();

  constructor(private readonly users: UsersStore) {}

  /** Undefined, after the same time, for a wrong password and for an unknown user. Throws `limit_reached`. */
  async caller(address: string, name: string, password: string): Promise<Caller | undefined> {
    const pair = `${address} ${name}`;
    const counts = this.#pairs.hasSucceeded(pair) ? [] : [{ attempts: this.#names, key: name }];
    const all = [...counts, { attempts: this.#pairs, key: pair }];
    const running = this.#running.get(address) ?? 0;
    if (running >= maxAtOnce || all.some(({ attempts, key }) => attempts.areTooMany(key)))
      throw tooManyLogins();
    // Counted first, so that concurrent attempts cannot exceed the limit.
    for (const { attempts, key } of all) attempts.failed(key);
    this.#running.set(address, running + 1);
    try {
      const caller = await this.users.withPassword(name, password);
      if (caller) for (const { attempts, key } of all) attempts.succeeded(key);
      return caller;
    } finally {
      this.#release(address);
    }
  }

  #release(address: string): void {
    const others = (this.#running.get(address) ?? 1) - 1;
    if (others > 0) this.#running.set(address, others);
    else this.#running.delete(address);
  }
}

const tooManyLogins = (): AppError =>
  new AppError('limit_reached', 'Too many failed login attempts. Wait a minute.');
