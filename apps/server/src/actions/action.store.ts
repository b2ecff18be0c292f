import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AppError, ownValue, requiredSecrets, type ActionPermissions } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';
import { actionRecord, type ActionRecord } from './action-record.js';

const savedSecrets = z.record(z.string(), z.record(z.string(), z.string()));

/** The installed actions, and their secrets. */
@Injectable()
export class ActionStore {
  /** The folder with the files of actions. */
  readonly folder: string;
  readonly #records: Document<z.ZodArray<typeof actionRecord>>;
  readonly #secrets: Document<typeof savedSecrets>;

  constructor({ data }: Config, documents: Documents) {
    this.folder = join(data, 'actions');
    this.#records = documents.open('actions', z.array(actionRecord), []);
    this.#secrets = documents.open('action-secrets', savedSecrets, {});
  }

  /** Calls the listener with the names of the actions that another server has changed, or their secrets. */
  onRead(listener: (changed: readonly string[]) => void): void {
    this.#records.onRead((before) => listener(changedNames(byName(before), byName(this.all))));
    this.#secrets.onRead((before) => listener(changedNames(before, this.#secrets.value)));
  }

  /** The path of the archive with this hash. */
  archiveOf(digest: string): string {
    return join(this.folder, `${digest}.tar`);
  }

  get all(): readonly ActionRecord[] {
    return this.#records.value;
  }

  /** Throws `not_found`. */
  known(name: string): ActionRecord {
    const record = this.all.find((one) => one.name === name);
    if (record) return record;
    throw new AppError(
      'not_found',
      `There is no action ${name}: belay actions list shows those that are installed.`,
    );
  }

  /** Adds the record, or replaces the one with the same name. */
  put(record: ActionRecord): Promise<void> {
    return this.#records.change((records) => {
      const others = records.filter(({ name }) => name !== record.name);
      return [...others, record].toSorted((a, b) => a.name.localeCompare(b.name));
    });
  }

  /** Removes the secrets first, so that a later action of the same name does not get them. Throws `not_found`. */
  async remove(name: string): Promise<void> {
    this.known(name);
    await this.#secrets.change((secrets) => without(secrets, name));
    await this.#records.change((records) => records.filter((one) => one.name !== name));
  }

  secretsOf(name: string): Readonly<Record<string, string>> {
    return ownValue(this.#secrets.value, name) ?? {};
  }

  /** The secrets that the action declares and that are set. Throws `not_found`. */
  declaredSecretsOf(name: string): Record<string, string> {
    const saved = this.secretsOf(name);
    const { secrets } = this.known(name).current.manifest.permissions;
    return Object.fromEntries(
      secrets.flatMap((key) => {
        const value = ownValue(saved, key);
        return value === undefined ? [] : [[key, value]];
      }),
    );
  }

  /** Throws `conflict` when one of the secrets that these permissions require is not set. */
  assertHasSecrets(name: string, permissions: ActionPermissions): void {
    const fault = this.secretsFault(name, permissions);
    if (fault !== undefined) throw new AppError('conflict', fault);
  }

  /** A sentence about required secrets that are not set; undefined if none is missing. */
  secretsFault(name: string, permissions: ActionPermissions): string | undefined {
    const saved = this.secretsOf(name);
    const missing = requiredSecrets(permissions).filter((key) => !Object.hasOwn(saved, key));
    if (missing.length === 0) return undefined;
    const [what, set] = missing.length > 1 ? ['secrets', 'are'] : ['secret', 'is'];
    const commands = missing.map((key) => `belay actions secret ${name} ${key}`);
    return `${name} needs the ${what} ${missing.join(', ')}, which ${set} not set. Set it with: ${commands.join(', ')}`;
  }

  /** Null removes the secret. Throws `not_found` for an unknown action. */
  setSecret(name: string, key: string, value: string | null): Promise<void> {
    return this.#secrets.change((secrets) => {
      this.known(name);
      const others = without(this.secretsOf(name), key);
      const values = value === null ? others : { ...others, [key]: value };
      return { ...secrets, [name]: values };
    });
  }
}

const without = <T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));

const byName = (records: readonly ActionRecord[]): Record<string, ActionRecord> =>
  Object.fromEntries(records.map((record) => [record.name, record]));

function changedNames(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(
    (name) => !isDeepStrictEqual(ownValue(before, name), ownValue(after, name)),
  );
}
