import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { UsersStore } from '../../access/users.store.js';
import { LoginAttempts } from './login-attempts.js';

/** Failures allowed for one name per minute, from all addresses. */
const perName = 60;

/** The same message for an unknown name. */
export const wrongPassword = 'The name or the password is wrong.';

/** Checks names with their passwords for the log-in page and for password changes; both count failures together. */
@Injectable()
export class PasswordCheck {
  /** Failed logins of any kind, by address. */
  readonly addresses = new LoginAttempts();
  readonly #names = new LoginAttempts(Date.now, perName);

  constructor(private readonly users: UsersStore) {}

  /** Undefined, after the same time, for a wrong password and for an unknown user. Throws `limit_reached`. */
  async caller(address: string, name: string, password: string): Promise<Caller | undefined> {
    if (this.addresses.areTooMany(address) || this.#names.areTooMany(name)) throw tooManyLogins();
    // Counted first, so that concurrent attempts cannot exceed the limit.
    this.addresses.failed(address);
    this.#names.failed(name);
    const caller = await this.users.withPassword(name, password);
    if (!caller) return undefined;
    this.addresses.succeeded(address);
    this.#names.succeeded(name);
    return caller;
  }
}

export const tooManyLogins = (): AppError =>
  new AppError('limit_reached', 'Too many failed login attempts. Wait a minute.');
