import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  NewestMap,
  permissionChanges,
  sourceSentence,
  type ActionOffer,
  type ActionSource,
  type FoundActions,
} from '@belay/protocol';
import { Config } from '../config.js';
import { digestOf, filesOfFolder, filesOfTar, type ActionFile } from './action-files.js';
import { ActionStore } from './action.store.js';
import { findActions, type FoundAction, type SourceActions } from './find-actions.js';
import { ActionRepositories } from './action-repositories.js';

const keptMs = 15 * 60_000;
/** The number of sources in memory; each may be as large as the file limits allow. */
const keptSources = 4;

interface KeptSource {
  found: SourceActions;
  source: Omit<ActionSource, 'folder'>;
  expires: number;
}

/** An action and its origin, as an install takes it. */
export interface ChosenAction {
  found: FoundAction;
  source: ActionSource;
}

/**
 * Keeps fetched sources for a while, so that an install gets exactly what the user was shown, even if the repository
 * has changed since.
 */
@Injectable()
export class ActionSources {
  readonly #kept = new NewestMap<string, KeptSource>(keptSources);

  constructor(
    private readonly store: ActionStore,
    private readonly repositories: ActionRepositories,
    private readonly config: Config,
  ) {}

  /** Throws one sentence. */
  async find(from: string, version: string | null, signal: AbortSignal): Promise<FoundActions> {
    const { files, source } = await this.repositories.fetch(from, version, signal);
    return this.#keep(files, source);
  }

  /** The actions that come with Belay. Throws `not_found` if it came without them. */
  async findExamples(): Promise<FoundActions> {
    const { examples } = this.config;
    const files = examples === undefined ? [] : await filesOfFolder(join(examples, 'actions'));
    if (files.length === 0)
      throw new AppError('not_found', 'No examples are installed. Set BELAY_EXAMPLES.');
    return this.#keep(files, { from: 'the examples', version: null, commit: null });
  }

  async upload(archive: Buffer, from: string): Promise<FoundActions> {
    const files = await filesOfTar(archive);
    return this.#keep(files, { from, version: null, commit: null });
  }

  /** The chosen actions of a source, or all. Throws `not_found`. */
  take(id: string, names: readonly string[] | undefined): ChosenAction[] {
    this.#expire();
    const kept = this.#kept.get(id);
    if (!kept)
      throw new AppError('not_found', 'These results have expired: look the source up again.');
    const { actions } = kept.found;
    const chosen = names?.map((name) => {
      const one = actions.find(({ manifest }) => manifest.name_for_model === name);
      if (one) return one;
      throw new AppError('not_found', `The source has no action ${name} that can be installed.`);
    });
    return [...new Set(chosen ?? actions)].map((found) => ({
      found,
      source: { ...kept.source, folder: found.folder },
    }));
  }

  #keep(files: readonly ActionFile[], source: Omit<ActionSource, 'folder'>): FoundActions {
    const found = findActions(files);
    if (found.actions.length + found.faults.length === 0) {
      throw new AppError(
        'not_found',
        'It contains no action. An action is a folder with a manifest.json and an executable run, a SKILL.md, or the server.json of an MCP server.',
      );
    }
    this.#expire();
    const id = randomUUID();
    this.#kept.set(id, { found, source, expires: Date.now() + keptMs });
    const actions = found.actions.map((action) => this.#offer(action, source));
    return { id, ...source, actions, faults: found.faults };
  }

  #offer(
    { kind, folder, manifest, warnings, files }: FoundAction,
    source: KeptSource['source'],
  ): ActionOffer {
    const name = manifest.name_for_model;
    const installed = this.store.all.find((one) => one.name === name)?.current;
    const added = sourceSentence({ ...source, folder });
    const removed = installed && sourceSentence(installed.source);
    // Another action may have this name, and an update looks for the version that was named.
    const moved = removed !== undefined && removed !== added;
    const isSame = installed?.digest === digestOf(files) && !moved;
    const changes = permissionChanges(installed?.manifest ?? null, manifest);
    return {
      name,
      kind,
      folder,
      manifest,
      warnings,
      state: installed ? (isSame ? 'same' : 'other') : 'new',
      changes: moved
        ? { added: [added, ...changes.added], removed: [removed, ...changes.removed] }
        : changes,
    };
  }

  #expire(): void {
    for (const [id, { expires }] of this.#kept) if (expires < Date.now()) this.#kept.delete(id);
  }
}
