import { Injectable } from '@nestjs/common';
import { AppError, customAgent, type CustomAgent, type SavedCustomAgent } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
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

  constructor(
    private readonly config: Config,
    documents: Documents,
  ) {
    this.#document = documents.open('agents', content, { installed: [], custom: [] });
  }

  /** Those of this server’s engine: servers of one database may have others. */
  get installed(): readonly InstalledVersion[] {
    return this.#document.value.installed.filter((one) => this.#isHere(one));
  }

  get custom(): readonly CustomAgent[] {
    return this.#document.value.custom;
  }

  /** The names of all that sessions can have here; with `retired`, also of those that only earlier sessions have. */
  names({ retired }: { retired: boolean }): string[] {
    const installed = this.installed.filter((one) => retired || !one.retired);
    return [...new Set([...installed, ...this.custom].map(({ name }) => name))].toSorted();
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
    return this.#changeInstalled((here) => {
      const others = here.filter(
        ({ name, version }) => name !== put.name || version !== put.version,
      );
      const retired = others.map((one) =>
        one.name === put.name ? { ...one, retired: true } : one,
      );
      return [...retired, put];
    });
  }

  /** No new session gets this agent. */
  retire(name: string): Promise<void> {
    return this.#changeInstalled((here) =>
      here.map((one) => (one.name === name ? { ...one, retired: true } : one)),
    );
  }

  forget({ name, version }: InstalledVersion): Promise<void> {
    return this.#changeInstalled((here) =>
      here.filter((one) => one.name !== name || one.version !== version),
    );
  }

  /** The name of a volume with an agent’s packages, which says whose engine has it. */
  volumeName(parts: readonly string[]): string {
    return ['belay-agent', this.config.instance, ...parts].join('-');
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

  #isHere({ volumes }: InstalledVersion): boolean {
    return volumes.every(({ name }) => name.startsWith(this.volumeName([''])));
  }

  #changeInstalled(change: (here: InstalledVersion[]) => InstalledVersion[]): Promise<void> {
    return this.#document.change((before) => {
      const elsewhere = before.installed.filter((one) => !this.#isHere(one));
      const here = before.installed.filter((one) => this.#isHere(one));
      return { ...before, installed: [...elsewhere, ...change(here)] };
    });
  }
}

export const noSuchAgent = (name: string): AppError =>
  new AppError('not_found', `There is no agent “${name}”. List them: belay agents list`);
