import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  machineDescription,
  machineName,
  placeLabels,
  type MachineDescription,
  type PlaceLabels,
} from '@belay/protocol';
import { z } from 'zod';
import type { Document } from '../../storage/document.js';
import { Documents } from '../../storage/documents.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';

const stored = machineDescription.extend({
  id: z.string(),
  name: machineName,
  joined: z.string(),
  labels: placeLabels.default({}),
  /** Whether it takes no sessions. */
  draining: z.boolean().default(false),
  /** The hash of the machine’s credential. */
  credential: z.string(),
});
export type StoredMachine = z.output<typeof stored>;

const content = z.object({
  machines: z.array(stored),
  /** Tokens that no machine has used yet. */
  invitations: z.array(
    z.object({
      hash: z.string(),
      name: machineName,
      expires: z.number(),
      labels: placeLabels.default({}),
    }),
  ),
  /** Files of deleted sessions that are still on machines. */
  leftFiles: z.array(z.object({ machine: z.string(), folder: z.string() })).default([]),
});
type Content = z.output<typeof content>;

const invitationMs = 60 * 60_000;
const maxMachines = 100;
/** Beyond this number, the oldest files stay on their machine. */
const maxLeftFiles = 10_000;

/** The joined machines, and the tokens with which others may join; only hashes of secrets are stored. */
@Injectable()
export class MachineStore {
  readonly #document: Document<typeof content>;

  constructor(documents: Documents) {
    this.#document = documents.open('machines', content, {
      machines: [],
      invitations: [],
      leftFiles: [],
    });
  }

  all(): readonly StoredMachine[] {
    return this.#document.value.machines;
  }

  named(name: string): StoredMachine | undefined {
    return this.all().find((one) => one.name === name);
  }

  /** By id, or else by name. */
  known(machine: string | undefined): StoredMachine | undefined {
    return this.all().find(({ id }) => id === machine) ?? this.named(machine ?? '');
  }

  /** Creates a token for one machine. Throws `conflict` when the name is taken. */
  async invite(
    name: string,
    labels: PlaceLabels = {},
  ): Promise<{ name: string; token: string; expires: string }> {
    const token = `join-${randomSecret()}`;
    const expires = Date.now() + invitationMs;
    await this.#change(({ machines, invitations }) => {
      if (machines.some((one) => one.name === name)) {
        const remedy = 'choose another name, or remove it first.';
        throw new AppError('conflict', `A machine named ${name} already exists: ${remedy}`);
      }
      if (machines.length + invitations.length >= maxMachines)
        throw new AppError('limit_reached', `There are ${maxMachines} machines: remove one first.`);
      // A new token replaces an earlier one of the same name.
      const others = invitations.filter((one) => one.name !== name);
      const invitation = { hash: hashOfSecret(token, 'hex'), name, expires, labels };
      return { invitations: [...others, invitation] };
    });
    return { name, token, expires: new Date(expires).toISOString() };
  }

  /** Exchanges a one-time token for a machine with a credential of its own. Throws `unauthorized`. */
  async join(
    token: string,
    description: MachineDescription,
  ): Promise<{ machine: StoredMachine; credential: string }> {
    const credential = `machine-${randomSecret()}`;
    let machine: StoredMachine | undefined;
    await this.#change(({ machines, invitations }) => {
      const hash = hashOfSecret(token, 'hex');
      const invitation = invitations.find((one) => one.hash === hash);
      if (!invitation)
        throw new AppError(
          'unauthorized',
          'This token has already been used, has expired, or belongs to another server. Make another: belay machines add NAME',
        );
      machine = {
        ...description,
        id: randomBytes(8).toString('hex'),
        name: invitation.name,
        joined: new Date().toISOString(),
        labels: invitation.labels,
        draining: false,
        credential: hashOfSecret(credential, 'hex'),
      };
      return {
        machines: [...machines, machine],
        invitations: invitations.filter((one) => one !== invitation),
      };
    });
    if (!machine) throw new AppError('internal', 'The machine was not stored.');
    return { machine, credential };
  }

  /** By id or name. Throws `not_found`. */
  async change(
    id: string,
    change: Partial<Pick<StoredMachine, 'labels' | 'draining'>>,
  ): Promise<StoredMachine> {
    let changed: StoredMachine | undefined;
    await this.#change(({ machines }) => {
      const found = machines.find((one) => one.id === id || one.name === id);
      changed = found && { ...found, ...change };
      return { machines: machines.map((one) => (changed && one === found ? changed : one)) };
    });
    if (!changed) throw new AppError('not_found', `There is no machine ${id}.`);
    return changed;
  }

  async remove(id: string): Promise<StoredMachine> {
    let found: StoredMachine | undefined;
    await this.#change(({ machines, leftFiles }) => {
      found = machines.find((one) => one.id === id || one.name === id);
      return {
        machines: machines.filter((one) => one !== found),
        leftFiles: leftFiles.filter(({ machine }) => machine !== found?.id),
      };
    });
    if (!found) throw new AppError('not_found', `There is no machine ${id}.`);
    return found;
  }

  /** Files of deleted sessions that are still on a machine, oldest first. */
  leftFiles(machine: string): string[] {
    return this.#document.value.leftFiles.flatMap((one) =>
      one.machine === machine ? one.folder : [],
    );
  }

  /** Records or clears files of deleted sessions on a joined machine. */
  async setLeftFiles(machine: string, folders: string[], left: boolean): Promise<void> {
    const has = new Set(this.leftFiles(machine));
    if (folders.every((folder) => has.has(folder) === left)) return;
    await this.#change(({ machines, leftFiles }) => {
      const others = leftFiles.filter(
        (one) => one.machine !== machine || !folders.includes(one.folder),
      );
      const isOurs = machines.some(({ id }) => id === machine);
      const more = left && isOurs ? folders.map((folder) => ({ machine, folder })) : [];
      return { leftFiles: [...others, ...more].slice(-maxLeftFiles) };
    });
  }

  /** Also drops invitations that have expired. */
  #change(change: (before: Content) => Partial<Content>): Promise<void> {
    return this.#document.change((stored) => {
      const invitations = stored.invitations.filter(({ expires }) => expires > Date.now());
      const before = { ...stored, invitations };
      return { ...before, ...change(before) };
    });
  }
}
