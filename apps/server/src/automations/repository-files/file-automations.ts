import { Injectable } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import type { Caller } from '../../access/caller.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import { DefinitionReader } from '../definitions/definition-reader.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { SelfPauses } from '../definitions/self-pauses.js';
import type { ForgeSource } from '../forges/forge-sources.js';
import type { DefinitionFile } from './definition-files.js';
import { fileFaults } from './file-faults.js';

/** Saves the automations that are files of a repository, and notes each change as that repository’s. */
@Injectable()
export class FileAutomations {
  constructor(
    private readonly automations: AutomationsStore,
    private readonly reader: DefinitionReader,
    private readonly pauses: SelfPauses,
    private readonly audit: AuditLog,
  ) {}

  /** Returns what is wrong with the file; null if it was saved. */
  async save(
    source: ForgeSource,
    { file: { path, text }, commit, by }: { file: DefinitionFile; commit: string; by: Caller },
  ): Promise<string | null> {
    const { definition, problems } = await this.reader.read(text, path, by);
    const [first] = problems;
    if (first) return `${first.line === null ? '' : `line ${first.line}: `}${first.message}.`;
    if (!definition) return 'it cannot be read.';
    const { id, host, repository } = source;
    const [fault] = fileFaults(definition, { host, repository });
    if (fault !== undefined) return fault;
    try {
      const before = await this.automations.find(definition.name);
      const saved = await this.automations.save(definition, {
        by,
        file: { host, repository, path, commit },
      });
      if (saved.version !== before?.version)
        this.audit.record({
          api: 'automation',
          caller: { id: `repository:${id}`, label: `${host}/${repository}` },
          action: before ? 'automations.edit' : 'automations.add',
          subject: `${saved.name}, version ${saved.version}: ${path} at ${commit.slice(0, 12)}, trusted by ${by.label}`,
          outcome: 'ok',
        });
      return null;
    } catch (error) {
      return errorFrom(error).message;
    }
  }

  /** Those whose files are gone or faulty. */
  async pauseOthers(
    source: ForgeSource,
    { kept, files }: { kept: ReadonlySet<string>; files: readonly DefinitionFile[] },
  ): Promise<void> {
    const there = new Set(files.map(({ path }) => path));
    for (const automation of await this.automations.list()) {
      const { file, state } = automation;
      if (!isOf(source, file) || kept.has(file.path) || state === 'broken') continue;
      const why = there.has(file.path)
        ? `Its file ${file.path} is not valid on the default branch any more. Correct it there.`
        : `Its file ${file.path} is not on the default branch any more.`;
      await this.pauses.pause(automation, why);
    }
  }
}

const isOf = (
  { host, repository }: ForgeSource,
  file: SavedAutomation['file'],
): file is NonNullable<SavedAutomation['file']> =>
  file !== null && file.host === host && file.repository === repository;
