import { Injectable } from '@nestjs/common';
import { AppError, customAgent, type CustomAgent, type SavedCustomAgent } from '@belay/protocol';
import { z } from 'zod';
import { keptSecrets } from '../storage/kept-secrets.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';

/** A version of an agent whose files are in volumes of the engine. */
const installedVersion = z.object({
  name: z.string(),
  version: z.string(),
  installed: z.iso.datetime({ offset: true }),
  /** A volume for each kind of image. */
  volumes: z.array(z.object({ name: z.string(), libraries: z.array(z.string()) })),
  /** Whether only earlier sessions use it, because it was removed or replaced. */
  retired: z.boolean(),
});
export type InstalledVersion = z.infer<typeof installedVersion>;

const content = z.object({
  installed: z.array(installedVersion),
  custom: z.array(customAgent),
});

/** The installed agents, and the entries of admins with their variables. */
@Injectable()
export class AgentStore {
  readonly #document: Document<typeof content>;

  constructor(documents: Documents) {
    this.#document = documents.open('agents', content, { installed: [], custom: [] });
  }

  get installed(): readonly InstalledVersion[] {
    return this.#document.value.installed;
  }

  get custom(): readonly CustomAgent[] {
    return this.#document.value.custom;
  }

  /** The version that new sessions get. */
  current(name: string): InstalledVersion | undefined {
    return this.installed.find((one) => one.name === name && !one.retired);
  }

  versionNamed(name: string, version: string): InstalledVersion | undefined {
    return this.installed.find((one) => one.name === name && one.version === version);
  }

  /** New sessions get this version from now on. */
  putInstalled(put: InstalledVersion): Promise<void> {
    return this.#document.change((before) => {
      const others = before.installed.filter(
        ({ name, version }) => name !== put.name || version !== put.version,
      );
      const retired = others.map((one) =>
        one.name === put.name ? { ...one, retired: true } : one,
      );
      return { ...before, installed: [...retired, put] };
    });
  }

  /** No new session gets this agent. */
  retire(name: string): Promise<void> {
    return this.#document.change((before) => ({
      ...before,
      installed: before.installed.map((one) =>
        one.name === name ? { ...one, retired: true } : one,
      ),
    }));
  }

  forget({ name, version }: InstalledVersion): Promise<void> {
    return this.#document.change((before) => ({
      ...before,
      installed: before.installed.filter((one) => one.name !== name || one.version !== version),
    }));
  }

  /** Adds or replaces an entry. Throws `invalid_input` for a value that is to be kept and was never saved. */
  putCustom(name: string, wanted: SavedCustomAgent): Promise<void> {
    return this.#document.change((before) => {
      const saved = before.custom.find((one) => one.name === name);
      const others = before.custom.filter((one) => one !== saved);
      const agent = { ...wanted, name, env: keptSecrets(wanted.env, saved?.env) };
      return { ...before, custom: [...others, agent] };
    });
  }

  /** Throws `not_found`. */
  removeCustom(name: string): Promise<void> {
    return this.#document.change((before) => {
      if (!before.custom.some((one) => one.name === name)) throw noSuchAgent(name);
      return { ...before, custom: before.custom.filter((one) => one.name !== name) };
    });
  }
}

export const noSuchAgent = (name: string): AppError =>
  new AppError('not_found', `There is no agent “${name}”. List them: belay agents list`);
