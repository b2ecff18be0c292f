import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, errorFrom } from '@belay/protocol';
import type { OnLead } from '../../storage/on-lead.js';
import { Clock } from '../clock.js';
import { ForgeSources, type ForgeSource } from '../forges/forge-sources.js';
import { RunCallers } from '../runs/run-callers.js';
import { DefinitionFiles } from './definition-files.js';
import { FileAutomations } from './file-automations.js';

/** How often default branches are looked at. */
const everyMs = 60_000;
const maxProblem = 1_000;

/**
 * Keeps the automations that are files of repositories as they are on the default branch, for the repositories that an admin
 * trusted to have some. A file that is gone or faulty pauses its automation.
 */
@Injectable()
export class RepositoryDefinitions implements OnLead, OnApplicationShutdown {
  readonly #logger = new Logger(RepositoryDefinitions.name);
  #cancel: (() => void) | undefined;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    private readonly automations: FileAutomations,
    private readonly sources: ForgeSources,
    private readonly files: DefinitionFiles,
    private readonly callers: RunCallers,
    private readonly clock: Clock,
  ) {}

  onLead(): void {
    this.#tick();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#work;
  }

  /** Resolves when every trusted repository was looked at. */
  look(): Promise<void> {
    this.#work = this.#work.then(() => this.#round());
    return this.#work;
  }

  #tick(): void {
    if (this.#isClosed) return;
    void this.look();
    const time = new Date(this.clock.now().getTime() + everyMs);
    this.#cancel = this.clock.at(time, () => this.#tick());
  }

  async #round(): Promise<void> {
    try {
      for (const source of await this.sources.list()) {
        if (this.#isClosed) return;
        if (source.files_by !== null) await this.#update(source, source.files_by);
      }
    } catch (error) {
      this.#logger.error(error);
    }
  }

  async #update(source: ForgeSource, trustedBy: string): Promise<void> {
    try {
      const by = this.callers.ownerOf(trustedBy);
      if (by?.scope !== 'admin')
        throw new AppError(
          'forbidden',
          'Whoever trusted its definitions is not an admin any more. Follow the repository again.',
        );
      const read = await this.files.read(source, source.files_commit);
      if (!read) return;
      const { commit, files } = read;
      const problems: string[] = [];
      const kept = new Set<string>();
      for (const file of files) {
        const problem = await this.automations.save(source, { file, commit, by });
        if (problem !== null) problems.push(`${file.path}: ${problem}`);
        else kept.add(file.path);
      }
      await this.automations.pauseOthers(source, { kept, files });
      const problem = problems.join(' ').slice(0, maxProblem) || null;
      await this.sources.noteFiles(source.id, commit, problem);
    } catch (error) {
      await this.sources.noteProblem(source.id, errorFrom(error).message);
    }
  }
}
